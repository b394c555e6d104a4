"""What holds for every test: settings of nobody's machine, an empty folder, and no network.

The environment is set before anything of ours is imported, since some libraries read it only then.
"""

from __future__ import annotations

import gc
import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings as hypothesis_settings

if TYPE_CHECKING:
    from tests.support import standin
    from tests.support.loopback import Loopback

ROOT = Path(__file__).resolve().parent.parent
HOME = Path(tempfile.mkdtemp(prefix="ideagora-tests-"))
VECTORS = "TESTS_VECTORS_FOLDER"
"""The variable that names the folder in which all worker processes keep the real embedder's vectors."""


def _prepare_environment() -> None:
    for name in list(os.environ):
        if name.startswith(("IDEAGORA_", "LANGSMITH_", "LANGCHAIN_")) or name.endswith("_API_KEY"):
            del os.environ[name]
    # Workers and commands share the compiled modules; without, each of them spends seconds on compiling all.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.update(
        IDEAGORA_FORBID_REAL_CALLS="1",
        IDEAGORA_HOME=str(HOME),
        LANGSMITH_TRACING="false",
        HF_HUB_OFFLINE="1",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        TOKENIZERS_PARALLELISM="false",
        OMP_NUM_THREADS="1",  # the tests themselves run on all cores
        # For subprocesses, which start in an empty folder.
        PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
    )


_prepare_environment()
gc.disable()  # until the tests are collected: a sixth of the time of imports

# No test judges speed by the clock, and a run gives the same examples every time.
hypothesis_settings.register_profile(
    "ideagora", max_examples=40, deadline=None, derandomize=True, database=None
)
hypothesis_settings.load_profile("ideagora")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Processes for ``-n logical``: more than cores, since half of a test's time is waiting."""
    cores = os.cpu_count() or 1
    return max(cores, min(2 * cores, 8))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Fork the commands of all worker processes from one server, which takes ten seconds to start."""
    from tests.support import command

    node.workerinput["command server"] = command.start_server()


def pytest_configure(config: pytest.Config) -> None:
    """Tell a worker process where that server is, and keep vectors for the next run of the tests."""
    cache = getattr(config, "cache", None)
    os.environ.setdefault(VECTORS, str(HOME / "vectors" if cache is None else cache.mkdir("vectors")))
    if address := getattr(config, "workerinput", {}).get("command server"):
        from tests.support import command

        command.use_server(address)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests with the embedding model first: one worker process gets them, so that one loads it."""
    items.sort(key=lambda item: item.get_closest_marker("weights") is None)


def pytest_collection_finish() -> None:
    """Spare the tests most of the garbage collection, which takes a sixth of their time otherwise."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(HOME, ignore_errors=True)


class NetworkForbidden(RuntimeError):
    """A test tried to leave this machine.

    Not an OSError, which the code under test would take for a failing connection and retry.
    """


class NetworkGuard:
    """Lets loopback through and refuses the rest, keeping what was refused in ``refused``.

    It sees what goes through Python's sockets; libraries that open their own (gRPC) are beyond it.
    """

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._connect = socket.socket.connect
        self._connect_ex = socket.socket.connect_ex
        self._sendto = socket.socket.sendto
        self._getaddrinfo = socket.getaddrinfo

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Put the guard in the way of every new connection and every name look-up."""
        guard = self

        def connect(self: socket.socket, address: Any) -> None:
            guard.check(self, address)
            guard._connect(self, address)

        def connect_ex(self: socket.socket, address: Any) -> int:
            guard.check(self, address)
            return guard._connect_ex(self, address)

        def sendto(self: socket.socket, data: Any, *arguments: Any) -> int:
            guard.check(self, arguments[-1])
            return guard._sendto(self, data, *arguments)

        def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
            guard.check_host(host)
            return guard._getaddrinfo(host, *arguments, **options)

        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        patch.setattr(socket.socket, "sendto", sendto)
        patch.setattr(socket, "getaddrinfo", getaddrinfo)

    def check(self, connection: socket.socket, address: Any) -> None:
        """Raise NetworkForbidden unless the address is on this machine."""
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            self.check_host(address[0])

    def check_host(self, host: Any) -> None:
        """Raise NetworkForbidden unless the host is this machine."""
        name = host.decode() if isinstance(host, bytes) else host
        if not _is_loopback(name):
            self.refused.append(str(name))
            raise NetworkForbidden(
                f"a test tried to reach {name!r}; tests may only talk to loopback: "
                "serve what you need on 127.0.0.1, or give the client a recorded answer."
            )


def _is_loopback(host: str | None) -> bool:
    if host is None or host in ("", "localhost"):
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture(scope="session", autouse=True)
def _network_guard() -> Iterator[NetworkGuard]:
    guard = NetworkGuard()
    with pytest.MonkeyPatch.context() as patch:
        guard.install(patch)
        yield guard


@pytest.fixture(autouse=True)
def network(_network_guard: NetworkGuard) -> Iterator[NetworkGuard]:
    """The guard. A refused connection fails the test even where the code swallowed the error."""
    yield _network_guard
    refused = sorted(set(_network_guard.refused))
    _network_guard.refused.clear()
    assert not refused, f"the test tried to reach {', '.join(refused)}; tests may only talk to loopback"


@pytest.fixture(autouse=True)
def _log_level() -> Iterator[None]:
    """A command that a test runs in this process sets how much is logged; the next test starts as before."""
    logger = logging.getLogger("ideagora")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in a folder of its own, so that an ``ideagora.toml`` of yours changes nothing."""
    folder = tmp_path_factory.mktemp("cwd")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("IDEAGORA_HOME", str(folder / "home"))


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of this test, with a filled store, for commands with the hash embedder."""
    from tests.support import command

    monkeypatch.setenv("IDEAGORA_EMBEDDER", "hash")
    monkeypatch.setenv("COLUMNS", "100")
    return Path(shutil.copytree(command.filled_home(), os.environ["IDEAGORA_HOME"]))


@pytest.fixture
def model() -> standin.Model:
    """The model behind ``server``; a test may change how it answers."""
    from tests.support import standin

    return standin.Model()


@pytest.fixture
def server(model: standin.Model) -> Iterator[Loopback]:
    """A model provider on loopback."""
    from tests.support.loopback import Loopback

    with Loopback(model) as running:
        yield running

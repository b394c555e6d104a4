"""Schedules, played to their end before judges of all kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from random import Random

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ideagora.errors import UsageError
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND, TIE, Comparisons
from ideagora.schedules.adaptive import Adaptive, ranking
from ideagora.schedules.balanced import Balanced, circle_rounds
from ideagora.schedules.pairing import Entrants, Pairing, Schedule
from ideagora.schedules.posterior import fit, wins
from ideagora.schedules.round_robin import RoundRobin
from ideagora.schedules.swiss import Swiss
from ideagora.schedules.swiss_pairs import swiss_round
from tests.support.each import each_case

Judge = Callable[[Pairing], float | None]


def _by_position(pairing: Pairing) -> float:
    return FIRST if pairing.first < pairing.second else SECOND


JUDGES: dict[str, Judge] = {
    "the lower position is better": _by_position,
    "always a tie": lambda pairing: TIE,
    "always the first": lambda pairing: FIRST,
    "always the second": lambda pairing: SECOND,
    "refuses": lambda pairing: None,
    "refuses every third topic": lambda pairing: None if pairing.topic % 3 else _by_position(pairing),
}


@dataclass
class Played:
    entrants: Entrants
    rounds: list[list[Pairing]]

    @property
    def asked(self) -> list[Pairing]:
        return [pairing for pairings in self.rounds for pairing in pairings]


def heard(entrants: Entrants, pairings: list[Pairing], judge: Judge) -> Comparisons:
    scored = [(pairing, outcome) for pairing in pairings if (outcome := judge(pairing)) is not None]
    columns = np.array([pairing for pairing, _ in scored], dtype=np.int64).reshape(-1, 4).T
    return Comparisons(
        agents=tuple(f"agent {place}" for place in range(entrants.agents)),
        topics=tuple(f"topic {place}" for place in range(entrants.topics)),
        judges=tuple(f"judge {place}" for place in range(entrants.judges)),
        first=columns[1],
        second=columns[2],
        outcome=np.array([outcome for _, outcome in scored], dtype=np.float64),
        topic=columns[0],
        judge=columns[3],
        match=np.arange(len(scored)),
        length=np.zeros(len(scored)),
    )


def play(schedule: Schedule, entrants: Entrants, judge: Judge = _by_position) -> Played:
    played = Played(entrants, [])
    while pairings := schedule.next(entrants, heard(entrants, played.asked, judge), played.asked):
        played.rounds.append(pairings)
        assert len(played.asked) <= schedule.total(entrants), "asks for more than it said, or for ever"
    return played


def everybody(topics: int, agents: int, judges: int = 1) -> Entrants:
    return Entrants(np.ones((topics, agents), dtype=bool), judges)


@st.composite
def all_entrants(draw_: st.DrawFn) -> Entrants:
    topics, agents = draw_(st.integers(0, 4)), draw_(st.integers(0, 6))
    entered = draw_(st.lists(st.booleans(), min_size=topics * agents, max_size=topics * agents))
    return Entrants(np.array(entered, dtype=bool).reshape(topics, agents), draw_(st.integers(1, 3)))


schedules = st.one_of(
    st.builds(RoundRobin, seed=st.integers(0, 9), randomised=st.booleans()),
    st.builds(Swiss, rounds=st.none() | st.integers(0, 9), seed=st.integers(0, 9)),
    st.builds(Balanced, budget=st.none() | st.integers(0, 40), seed=st.integers(0, 9)),
    st.builds(
        Adaptive,
        goal=st.sampled_from(["ranking", "top_k"]),
        k=st.just(1),  # with more, all who entered may be in the top
        confidence=st.none() | st.floats(0.6, 0.99),
        budget=st.none() | st.integers(0, 40),
        seed=st.integers(0, 9),
    ),
)
judges = st.sampled_from(sorted(JUDGES))


@settings(deadline=None)
@given(schedules, all_entrants(), judges)
def test_every_tournament_ends_with_valid_pairings_none_twice(
    schedule: Schedule, entrants: Entrants, judge: str
) -> None:
    asked = play(schedule, entrants, JUDGES[judge]).asked
    for pairing in asked:
        assert pairing.first != pairing.second
        assert entrants.entered[pairing.topic, [pairing.first, pairing.second]].all()
        assert 0 <= pairing.judge < entrants.judges
    assert len(set(asked)) == len(asked)
    if not isinstance(schedule, RoundRobin):  # there, every judge sees every pair
        assert len({pairing[:3] for pairing in asked}) == len(asked)


@settings(deadline=None)
@given(schedules, all_entrants(), judges, st.randoms(use_true_random=False))
def test_a_round_does_not_depend_on_the_order_in_which_verdicts_came(
    schedule: Schedule, entrants: Entrants, judge: str, random: Random
) -> None:
    played = play(schedule, entrants, JUDGES[judge])
    for number in range(len(played.rounds) + 1):
        before = [pairing for pairings in played.rounds[:number] for pairing in pairings]
        random.shuffle(before)
        again = schedule.next(entrants, heard(entrants, before, JUDGES[judge]), before)
        assert again == (played.rounds[number] if number < len(played.rounds) else [])


@settings(deadline=None)
@given(schedules, all_entrants(), st.data())
def test_a_round_that_was_cut_short_still_leads_to_an_end(
    schedule: Schedule, entrants: Entrants, data: st.DataObject
) -> None:
    asked: list[Pairing] = []
    while pairings := schedule.next(entrants, heard(entrants, asked, _by_position), asked):
        asked += pairings[: data.draw(st.integers(1, len(pairings)))]
        assert len(set(asked)) == len(asked) <= schedule.total(entrants)


@settings(deadline=None)
@given(all_entrants(), st.integers(0, 9), st.booleans())
def test_round_robin_has_each_pair_in_both_orders_before_each_judge(
    entrants: Entrants, seed: int, randomised: bool
) -> None:
    asked = play(RoundRobin(seed, randomised), entrants).asked
    expected = {
        Pairing(topic, *shown, judge)
        for topic in range(entrants.topics)
        for low, high in combinations(np.flatnonzero(entrants.entered[topic]).tolist(), 2)
        for shown in ((low, high), (high, low))
        for judge in range(entrants.judges)
    }
    assert set(asked) == expected
    assert len(asked) == RoundRobin().total(entrants)


def test_round_robin_as_in_the_paper_goes_topic_by_topic_with_both_orders_side_by_side() -> None:
    asked = play(RoundRobin(randomised=False), everybody(2, 3)).asked
    assert [pairing.topic for pairing in asked] == [0] * 6 + [1] * 6
    assert asked[:4] == [Pairing(0, 0, 1), Pairing(0, 1, 0), Pairing(0, 0, 2), Pairing(0, 2, 0)]


def test_randomised_round_robin_meets_every_pair_before_any_in_the_swapped_order() -> None:
    entrants = everybody(5, 6)
    asked = play(RoundRobin(seed=3), entrants).asked
    half = len(asked) // 2
    assert len({(pairing.topic, pairing.pair) for pairing in asked[:half]}) == half
    assert [pairing.swapped for pairing in asked[:half]] == asked[half:]
    assert 0 < sum(pairing.first < pairing.second for pairing in asked[:half]) < half


@given(st.integers(0, 13))
def test_circle_has_every_pair_once_and_nobody_twice_in_a_round(players: int) -> None:
    rounds = circle_rounds(range(players))
    met = [frozenset(pair) for pairs in rounds for pair in pairs]
    assert sorted(map(sorted, met)) == [list(pair) for pair in combinations(range(players), 2)]
    for pairs in rounds:
        seated = [player for pair in pairs for player in pair]
        assert len(set(seated)) == len(seated) == players - players % 2


@settings(deadline=None)
@given(all_entrants(), st.integers(0, 9))
def test_balanced_gives_each_idea_of_a_topic_one_game_a_round(entrants: Entrants, seed: int) -> None:
    played = play(Balanced(seed=seed), entrants)
    games: Counter[tuple[int, int]] = Counter()
    for pairings in played.rounds:
        games.update((pairing.topic, agent) for pairing in pairings for agent in pairing.pair)
        for topic in range(entrants.topics):
            counts = [games[topic, agent] for agent in entrants.entries(topic)]
            assert max(counts, default=0) - min(counts, default=0) <= 1
    assert len(played.asked) == entrants.pair_count()


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(1, 9), st.integers(0, 9), judges)
def test_nobody_has_a_second_bye_before_all_had_one(agents: int, rounds: int, seed: int, judge: str) -> None:
    played = play(Swiss(rounds, seed), everybody(2, agents), JUDGES[judge])
    for topic in range(2):
        byes = Counter(dict.fromkeys(range(agents), 0))
        for pairings in played.rounds:
            seated = {agent for shown in pairings if shown.topic == topic for agent in shown.pair}
            byes.update(set(range(agents)) - seated)
            assert max(byes.values()) - min(byes.values()) <= 1
            assert len(seated) == agents - agents % 2


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(0, 9), judges)
def test_swiss_has_no_rematch_while_the_round_can_avoid_it(agents: int, seed: int, judge: str) -> None:
    played = play(Swiss(agents, seed), everybody(1, agents), JUDGES[judge])
    met: Counter[tuple[int, int]] = Counter()
    for pairings in played.rounds:
        pairs = {pairing.pair for pairing in pairings}
        sitting = set(range(agents)) - {agent for pair in pairs for agent in pair}
        if any(met[pair] for pair in pairs):
            # With the same one sitting out, and with any other that may, no matching is free of rematches.
            games = Counter(agent for pair in met.elements() for agent in pair)
            most = max(games.values())
            for sitter in [who for who in range(agents) if games[who] == most] if sitting else [None]:
                fresh = networkx.Graph(
                    (low, high)
                    for low, high in combinations(range(agents), 2)
                    if not met[low, high] and sitter not in (low, high)
                )
                assert len(networkx.max_weight_matching(fresh, True)) < agents // 2
        met.update(pairs)
    assert max(met.values()) <= 2


def test_swiss_pairs_equal_standings() -> None:
    games = [(0, 1), (2, 3), (4, 5), (6, 7)]
    standing = {agent: 1 if agent % 2 else -1 for agent in range(8)}
    for seed in range(20):
        pairs = swiss_round(list(range(8)), games, standing, np.random.default_rng(seed))
        assert all(low % 2 == high % 2 for low, high in pairs)


def test_swiss_pairs_nobody_a_third_time() -> None:
    both_orders = [(0, 1), (1, 0)]
    random = np.random.default_rng(0)
    assert swiss_round([0, 1], both_orders, {0: 2, 1: -2}, random) == []
    pairs = swiss_round([0, 1, 2], [*both_orders, (0, 2), (2, 1)], {0: 1, 1: 1, 2: -2}, random)
    assert pairs in ([(0, 2)], [(1, 2)])


def test_swiss_draws_lots_between_equally_good_rounds() -> None:
    standing = dict.fromkeys(range(6), 0)
    drawn = {
        tuple(swiss_round(list(range(6)), [], standing, np.random.default_rng(seed))) for seed in range(40)
    }
    assert len(drawn) > 5


@each_case("schedule", [Swiss(5), Adaptive(budget=600, confidence=None)], ids=["swiss", "adaptive"])
@each_case("agents", [5, 12])
def test_each_agent_and_each_idea_is_first_as_often_as_second(schedule: Schedule, agents: int) -> None:
    agent_ahead: Counter[int] = Counter()
    idea_ahead: Counter[tuple[int, int]] = Counter()
    for pairing in play(schedule, everybody(30, agents)).asked:
        for agent, step in ((pairing.first, 1), (pairing.second, -1)):
            agent_ahead[agent] += step
            idea_ahead[pairing.topic, agent] += step
    assert max(map(abs, agent_ahead.values())) <= 4
    assert max(map(abs, idea_ahead.values())) <= 4


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 6), st.integers(1, 4))
def test_adaptive_asks_everything_once_before_it_swaps_when_no_judge_helps(agents: int, topics: int) -> None:
    entrants = everybody(topics, agents)
    asked = play(Adaptive(confidence=None), entrants, JUDGES["always a tie"]).asked
    assert len(asked) == 2 * entrants.pair_count()
    assert Counter((pairing.topic, pairing.pair) for pairing in asked) == Counter(
        {(topic, pair): 2 for topic in range(topics) for pair in combinations(range(agents), 2)}
    )


def test_adaptive_looks_at_doubtful_neighbours_and_not_at_clear_cases() -> None:
    entrants, shift = everybody(40, 6), np.array([3.0, 3.0, 0.0, 0.0, -3.0, -3.0])
    luck = np.random.default_rng(4).random((40, 6, 6))
    verdicts = (luck < 1 / (1 + np.exp(shift - shift[:, None]))).astype(float)
    asked = play(
        Adaptive(budget=300, confidence=None), entrants, lambda shown: float(verdicts[shown[:3]])
    ).asked
    counts = Counter(pairing.pair for pairing in asked)
    assert min(counts[0, 1], counts[2, 3], counts[4, 5]) > 3 * max(counts[0, 4], counts[0, 5], counts[1, 5])


def test_adaptive_for_the_top_looks_at_its_border() -> None:
    entrants = everybody(60, 8)
    strengths = np.array([2.0, 1.9, 0.1, 0.0, -1.9, -2.0, -2.1, -2.2])
    luck = np.random.default_rng(0).random((60, 8, 8))
    verdicts = (luck < 1 / (1 + np.exp(strengths - strengths[:, None]))).astype(float)
    asked = play(
        Adaptive(goal="top_k", k=3, budget=500, confidence=None),
        entrants,
        lambda shown: float(verdicts[shown[:3]]),
    ).asked
    counts = Counter(pairing.pair for pairing in asked)
    assert counts[2, 3] == max(counts.values())
    assert counts[2, 3] > 2 * max(counts[0, 1], counts[6, 7])


def test_adaptive_stops_once_it_is_certain_and_sooner_for_the_top_alone() -> None:
    entrants = everybody(40, 5)
    certain = play(Adaptive(confidence=0.95), entrants).asked
    assert 0 < len(certain) < 2 * entrants.pair_count() // 2
    top = play(Adaptive(goal="top_k", k=1, confidence=0.95), entrants).asked
    assert len(top) <= len(certain)
    posterior = fit(entrants, wins(entrants, heard(entrants, certain, _by_position)))
    assert Adaptive(confidence=0.95).is_certain(entrants, posterior)


def test_a_judge_without_an_opinion_leaves_the_order_uncertain_to_the_end() -> None:
    entrants = everybody(5, 4)
    asked = play(Adaptive(confidence=0.8), entrants, JUDGES["always a tie"]).asked
    assert len(asked) == 2 * entrants.pair_count()
    posterior = fit(entrants, wins(entrants, heard(entrants, asked, JUDGES["always a tie"])))
    assert posterior.probability() == pytest.approx(np.full((4, 4), 0.5))


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 99))
def test_posterior_follows_the_names_and_turns_round_with_the_verdicts(
    agents: int, topics: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    entrants = everybody(topics, agents)
    won = np.triu(random.integers(0, 3, (topics, agents, agents)), 1).astype(float)
    won += np.tril(random.integers(0, 3, won.shape), -1)
    posterior, order = fit(entrants, won), random.permutation(agents)
    renamed = fit(entrants, won[:, order][:, :, order])
    assert renamed.mean == pytest.approx(posterior.mean[order], abs=1e-3)
    reverse = fit(entrants, won.swapaxes(1, 2))
    assert reverse.mean == pytest.approx(-posterior.mean, abs=1e-3)
    assert np.linalg.eigvalsh(posterior.covariance).min() > 0


def test_posterior_agrees_with_one_found_by_brute_force() -> None:
    """Two agents, one topic a verdict: the logit of the one above the other by numerical integration."""
    entrants = everybody(30, 2)
    won = np.zeros((30, 2, 2))
    won[:20, 0, 1], won[20:, 1, 0] = 1, 1
    posterior = fit(entrants, won)
    gap = np.linspace(-6, 6, 1201)
    luck = np.linspace(-6, 6, 601) * np.sqrt(2 * posterior.idea_variance)
    weight = np.exp(-0.25 * (luck**2) / posterior.idea_variance)
    chance = (weight / (1 + np.exp(-(gap[:, None] + luck)))).sum(axis=1) / weight.sum()
    density = chance**20 * (1 - chance) ** 10 * np.exp(-0.25 * gap**2 / posterior.agent_variance)
    mean = (gap * density).sum() / density.sum()
    deviation = np.sqrt((gap**2 * density).sum() / density.sum() - mean**2)
    differences, variance = posterior.differences()
    assert differences[0, 1] == pytest.approx(mean, rel=0.15)
    assert np.sqrt(variance[0, 1]) == pytest.approx(deviation, rel=0.15)


def test_agents_without_ideas_are_left_out_of_the_ranking() -> None:
    entered = np.ones((6, 4), dtype=bool)
    entered[:, 2] = False
    entrants = Entrants(entered)
    played = play(Adaptive(confidence=None), entrants)
    posterior = fit(entrants, wins(entrants, heard(entrants, played.asked, _by_position)))
    assert ranking(entrants, posterior).tolist() == [0, 1, 3]


@each_case(
    "build, said",
    [
        (lambda: Adaptive(k=0), "the top 0 is empty"),
        (lambda: Adaptive(confidence=1.0), "a confidence of 1.0"),
        (
            lambda: Adaptive(goal="best"),  # type: ignore[arg-type]
            "the goal 'best' is unknown",
        ),
        (
            lambda: play(Adaptive("top_k", 3), everybody(2, 3)),
            "the top 3 of 3 agents is all of them; take k below 3",
        ),
        (lambda: Swiss(-1), "-1 rounds"),
        (lambda: Balanced(-5), "a budget of -5 verdicts"),
        (lambda: Adaptive(budget=-5), "a budget of -5 verdicts"),
        (lambda: Entrants(np.ones(3, dtype=bool)), "one row per topic, one column per agent"),
        (lambda: everybody(1, 2, judges=0), "0 judges"),
    ],
)
def test_what_cannot_be_asked_for_is_said_in_one_line(build: Callable[[], object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        build()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)

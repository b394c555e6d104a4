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
from ideagora.evaluators.schedules.adaptive import Adaptive, ranking
from ideagora.evaluators.schedules.balanced import Balanced, circle_rounds
from ideagora.evaluators.schedules.pairing import Field, Pairing, Schedule
from ideagora.evaluators.schedules.posterior import fit, wins
from ideagora.evaluators.schedules.round_robin import RoundRobin
from ideagora.evaluators.schedules.swiss import Swiss, swiss_round
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND, TIE, Comparisons
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
    field: Field
    rounds: list[list[Pairing]]

    @property
    def asked(self) -> list[Pairing]:
        return [pairing for pairings in self.rounds for pairing in pairings]


def heard(field: Field, pairings: list[Pairing], judge: Judge) -> Comparisons:
    scored = [(pairing, outcome) for pairing in pairings if (outcome := judge(pairing)) is not None]
    columns = np.array([pairing for pairing, _ in scored], dtype=np.int64).reshape(-1, 4).T
    return Comparisons(
        agents=tuple(f"agent {place}" for place in range(field.agents)),
        topics=tuple(f"topic {place}" for place in range(field.topics)),
        judges=tuple(f"judge {place}" for place in range(field.judges)),
        first=columns[1],
        second=columns[2],
        outcome=np.array([outcome for _, outcome in scored], dtype=np.float64),
        topic=columns[0],
        judge=columns[3],
        match=np.arange(len(scored)),
        length=np.zeros(len(scored)),
    )


def play(schedule: Schedule, field: Field, judge: Judge = _by_position) -> Played:
    played = Played(field, [])
    while pairings := schedule.next(field, heard(field, played.asked, judge), played.asked):
        played.rounds.append(pairings)
        assert len(played.asked) <= schedule.total(field), "asks for more than it said, or for ever"
    return played


def everybody(topics: int, agents: int, judges: int = 1) -> Field:
    return Field(np.ones((topics, agents), dtype=bool), judges)


@st.composite
def fields(draw_: st.DrawFn) -> Field:
    topics, agents = draw_(st.integers(0, 4)), draw_(st.integers(0, 6))
    entered = draw_(st.lists(st.booleans(), min_size=topics * agents, max_size=topics * agents))
    return Field(np.array(entered, dtype=bool).reshape(topics, agents), draw_(st.integers(1, 3)))


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
@given(schedules, fields(), judges)
def test_every_tournament_ends_with_valid_pairings_none_twice(
    schedule: Schedule, field: Field, judge: str
) -> None:
    asked = play(schedule, field, JUDGES[judge]).asked
    for pairing in asked:
        assert pairing.first != pairing.second
        assert field.entered[pairing.topic, [pairing.first, pairing.second]].all()
        assert 0 <= pairing.judge < field.judges
    assert len(set(asked)) == len(asked)
    if not isinstance(schedule, RoundRobin):  # there, every judge sees every pair
        assert len({pairing[:3] for pairing in asked}) == len(asked)


@settings(deadline=None)
@given(schedules, fields(), judges, st.randoms(use_true_random=False))
def test_a_round_does_not_depend_on_the_order_in_which_verdicts_came(
    schedule: Schedule, field: Field, judge: str, random: Random
) -> None:
    played = play(schedule, field, JUDGES[judge])
    for number in range(len(played.rounds) + 1):
        before = [pairing for pairings in played.rounds[:number] for pairing in pairings]
        random.shuffle(before)
        again = schedule.next(field, heard(field, before, JUDGES[judge]), before)
        assert again == (played.rounds[number] if number < len(played.rounds) else [])


@settings(deadline=None)
@given(schedules, fields(), st.data())
def test_a_round_that_was_cut_short_still_leads_to_an_end(
    schedule: Schedule, field: Field, data: st.DataObject
) -> None:
    asked: list[Pairing] = []
    while pairings := schedule.next(field, heard(field, asked, _by_position), asked):
        asked += pairings[: data.draw(st.integers(1, len(pairings)))]
        assert len(set(asked)) == len(asked) <= schedule.total(field)


@settings(deadline=None)
@given(fields(), st.integers(0, 9), st.booleans())
def test_round_robin_has_each_pair_in_both_orders_before_each_judge(
    field: Field, seed: int, randomised: bool
) -> None:
    asked = play(RoundRobin(seed, randomised), field).asked
    expected = {
        Pairing(topic, *shown, judge)
        for topic in range(field.topics)
        for low, high in combinations(np.flatnonzero(field.entered[topic]).tolist(), 2)
        for shown in ((low, high), (high, low))
        for judge in range(field.judges)
    }
    assert set(asked) == expected
    assert len(asked) == RoundRobin().total(field)


def test_round_robin_as_in_the_paper_goes_topic_by_topic_with_both_orders_side_by_side() -> None:
    asked = play(RoundRobin(randomised=False), everybody(2, 3)).asked
    assert [pairing.topic for pairing in asked] == [0] * 6 + [1] * 6
    assert asked[:4] == [Pairing(0, 0, 1), Pairing(0, 1, 0), Pairing(0, 0, 2), Pairing(0, 2, 0)]


def test_randomised_round_robin_meets_every_pair_before_any_in_the_swapped_order() -> None:
    field = everybody(5, 6)
    asked = play(RoundRobin(seed=3), field).asked
    half = len(asked) // 2
    assert len({(pairing.topic, pairing.couple) for pairing in asked[:half]}) == half
    assert [pairing.swapped for pairing in asked[:half]] == asked[half:]
    assert 0 < sum(pairing.first < pairing.second for pairing in asked[:half]) < half


@given(st.integers(0, 13))
def test_circle_has_every_pair_once_and_nobody_twice_in_a_round(players: int) -> None:
    rounds = circle_rounds(range(players))
    met = [frozenset(couple) for couples in rounds for couple in couples]
    assert sorted(map(sorted, met)) == [list(couple) for couple in combinations(range(players), 2)]
    for couples in rounds:
        seated = [player for couple in couples for player in couple]
        assert len(set(seated)) == len(seated) == players - players % 2


@settings(deadline=None)
@given(fields(), st.integers(0, 9))
def test_balanced_gives_each_idea_of_a_topic_one_game_a_round(field: Field, seed: int) -> None:
    played = play(Balanced(seed=seed), field)
    games: Counter[tuple[int, int]] = Counter()
    for pairings in played.rounds:
        games.update((pairing.topic, agent) for pairing in pairings for agent in pairing.couple)
        for topic in range(field.topics):
            counts = [games[topic, agent] for agent in field.entries(topic)]
            assert max(counts, default=0) - min(counts, default=0) <= 1
    assert len(played.asked) == field.couples()


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(1, 9), st.integers(0, 9), judges)
def test_nobody_has_a_second_bye_before_all_had_one(agents: int, rounds: int, seed: int, judge: str) -> None:
    played = play(Swiss(rounds, seed), everybody(2, agents), JUDGES[judge])
    for topic in range(2):
        byes = Counter(dict.fromkeys(range(agents), 0))
        for pairings in played.rounds:
            seated = {agent for shown in pairings if shown.topic == topic for agent in shown.couple}
            byes.update(set(range(agents)) - seated)
            assert max(byes.values()) - min(byes.values()) <= 1
            assert len(seated) == agents - agents % 2


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(0, 9), judges)
def test_swiss_has_no_rematch_while_the_round_can_avoid_it(agents: int, seed: int, judge: str) -> None:
    played = play(Swiss(agents, seed), everybody(1, agents), JUDGES[judge])
    met: Counter[tuple[int, int]] = Counter()
    for pairings in played.rounds:
        couples = {pairing.couple for pairing in pairings}
        sitting = set(range(agents)) - {agent for couple in couples for agent in couple}
        if any(met[couple] for couple in couples):
            # With the same one sitting out, and with any other that may, no matching is free of rematches.
            games = Counter(agent for couple in met.elements() for agent in couple)
            most = max(games.values())
            for sitter in [who for who in range(agents) if games[who] == most] if sitting else [None]:
                fresh = networkx.Graph(
                    (low, high)
                    for low, high in combinations(range(agents), 2)
                    if not met[low, high] and sitter not in (low, high)
                )
                assert len(networkx.max_weight_matching(fresh, True)) < agents // 2
        met.update(couples)
    assert max(met.values()) <= 2


def test_swiss_pairs_equal_standings() -> None:
    games = [Pairing(0, 0, 1), Pairing(0, 2, 3), Pairing(0, 4, 5), Pairing(0, 6, 7)]
    standing = {agent: 1 if agent % 2 else -1 for agent in range(8)}
    for seed in range(20):
        couples = swiss_round(list(range(8)), games, standing, np.random.default_rng(seed))
        assert all(low % 2 == high % 2 for low, high in couples)


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
    field = everybody(topics, agents)
    asked = play(Adaptive(confidence=None), field, JUDGES["always a tie"]).asked
    assert len(asked) == 2 * field.couples()
    assert Counter((pairing.topic, pairing.couple) for pairing in asked) == Counter(
        {(topic, couple): 2 for topic in range(topics) for couple in combinations(range(agents), 2)}
    )


def test_adaptive_looks_at_doubtful_neighbours_and_not_at_clear_cases() -> None:
    field, shift = everybody(40, 6), np.array([3.0, 3.0, 0.0, 0.0, -3.0, -3.0])
    luck = np.random.default_rng(4).random((40, 6, 6))
    verdicts = (luck < 1 / (1 + np.exp(shift - shift[:, None]))).astype(float)
    asked = play(Adaptive(budget=300, confidence=None), field, lambda shown: float(verdicts[shown[:3]])).asked
    counts = Counter(pairing.couple for pairing in asked)
    assert min(counts[0, 1], counts[2, 3], counts[4, 5]) > 3 * max(counts[0, 4], counts[0, 5], counts[1, 5])


def test_adaptive_for_the_top_looks_at_its_border() -> None:
    field = everybody(60, 8)
    strengths = np.array([2.0, 1.9, 0.1, 0.0, -1.9, -2.0, -2.1, -2.2])
    luck = np.random.default_rng(0).random((60, 8, 8))
    verdicts = (luck < 1 / (1 + np.exp(strengths - strengths[:, None]))).astype(float)
    asked = play(
        Adaptive(goal="top_k", k=3, budget=500, confidence=None),
        field,
        lambda shown: float(verdicts[shown[:3]]),
    ).asked
    counts = Counter(pairing.couple for pairing in asked)
    assert counts[2, 3] == max(counts.values())
    assert counts[2, 3] > 2 * max(counts[0, 1], counts[6, 7])


def test_adaptive_stops_once_it_is_certain_and_sooner_for_the_top_alone() -> None:
    field = everybody(40, 5)
    certain = play(Adaptive(confidence=0.95), field).asked
    assert 0 < len(certain) < 2 * field.couples() // 2
    top = play(Adaptive(goal="top_k", k=1, confidence=0.95), field).asked
    assert len(top) <= len(certain)
    posterior = fit(field, wins(field, heard(field, certain, _by_position)))
    assert Adaptive(confidence=0.95).is_certain(field, posterior)


def test_a_judge_without_an_opinion_leaves_the_order_uncertain_to_the_end() -> None:
    field = everybody(5, 4)
    asked = play(Adaptive(confidence=0.8), field, JUDGES["always a tie"]).asked
    assert len(asked) == 2 * field.couples()
    posterior = fit(field, wins(field, heard(field, asked, JUDGES["always a tie"])))
    assert posterior.probability() == pytest.approx(np.full((4, 4), 0.5))


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 99))
def test_posterior_follows_the_names_and_turns_round_with_the_verdicts(
    agents: int, topics: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    field = everybody(topics, agents)
    won = np.triu(random.integers(0, 3, (topics, agents, agents)), 1).astype(float)
    won += np.tril(random.integers(0, 3, won.shape), -1)
    posterior, order = fit(field, won), random.permutation(agents)
    renamed = fit(field, won[:, order][:, :, order])
    assert renamed.mean == pytest.approx(posterior.mean[order], abs=1e-3)
    reverse = fit(field, won.swapaxes(1, 2))
    assert reverse.mean == pytest.approx(-posterior.mean, abs=1e-3)
    assert np.linalg.eigvalsh(posterior.covariance).min() > 0


def test_posterior_agrees_with_one_found_by_brute_force() -> None:
    """Two agents, one topic a verdict: the logit of the one above the other by numerical integration."""
    field = everybody(30, 2)
    won = np.zeros((30, 2, 2))
    won[:20, 0, 1], won[20:, 1, 0] = 1, 1
    posterior = fit(field, won)
    gap = np.linspace(-6, 6, 1201)
    luck = np.linspace(-6, 6, 601) * np.sqrt(2 * posterior.idea_variance)
    weight = np.exp(-0.25 * (luck**2) / posterior.idea_variance)
    chance = (weight / (1 + np.exp(-(gap[:, None] + luck)))).sum(axis=1) / weight.sum()
    density = chance**20 * (1 - chance) ** 10 * np.exp(-0.25 * gap**2 / posterior.agent_variance)
    mean = (gap * density).sum() / density.sum()
    deviation = np.sqrt((gap**2 * density).sum() / density.sum() - mean**2)
    found, variance = posterior.differences()
    assert found[0, 1] == pytest.approx(mean, rel=0.15)
    assert np.sqrt(variance[0, 1]) == pytest.approx(deviation, rel=0.15)


def test_agents_without_ideas_are_left_out_of_the_ranking() -> None:
    entered = np.ones((6, 4), dtype=bool)
    entered[:, 2] = False
    field = Field(entered)
    played = play(Adaptive(confidence=None), field)
    posterior = fit(field, wins(field, heard(field, played.asked, _by_position)))
    assert ranking(field, posterior).tolist() == [0, 1, 3]


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
        (lambda: Field(np.ones(3, dtype=bool)), "one row per topic, one column per agent"),
        (lambda: everybody(1, 2, judges=0), "0 judges"),
    ],
)
def test_what_cannot_be_asked_for_is_said_in_one_line(build: Callable[[], object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        build()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)

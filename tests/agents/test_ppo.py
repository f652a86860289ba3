"""Networks as policies: what they may choose, what they may see, how they are kept."""

from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch
from helpers import COMPILED
from sb3_contrib.common.maskable.distributions import MaskableCategorical

import agents
from agents.errors import AgentError
from agents.greedy import WEIGHTS
from agents.mixed_vec_env import MixedSB3VecEnv
from agents.networks import NETWORKS
from agents.policy import PolicyAgent
from agents.ppo import NetworkPolicy
from agents.random_agent import RandomAgent
from agents.sb3_vec_env import YukonSB3VecEnv
from yukon_env.evaluation import evaluate
from yukon_env.game import Game
from yukon_env.variants import VARIANTS

Batch = dict[str, np.ndarray]


def positions(variant: str = "yukon", n: int = 12, moves: int = 15) -> Batch:
    """Positions some random moves into the game."""
    env = YukonSB3VecEnv(n, variant)
    rng = np.random.default_rng(0)
    env.seed(0)
    batch = env.reset()
    for _ in range(moves):
        masks = env.action_masks()
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        batch = cast(Batch, env.step(actions)[0])
    return batch


def new_policy(*variants: str, network: str = "moves") -> NetworkPolicy:
    """A policy with random weights, its preferences large enough to matter."""
    torch.manual_seed(0)
    env = MixedSB3VecEnv([YukonSB3VecEnv(1, variant) for variant in variants])
    policy = NetworkPolicy(
        env.observation_space, env.action_space, lambda _: 1e-3,
        variants=variants, network=network, width=16,
    )  # fmt: skip
    torch.nn.init.normal_(cast(torch.nn.Linear, policy.network.logit).weight, std=0.5)
    return policy


def tensors(batch: Batch) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in batch.items()}


def new_agent(*variants: str, network: str = "moves") -> PolicyAgent:
    return PolicyAgent(variants[0], new_policy(*variants, network=network).network, variants)


either_network = pytest.mark.parametrize("network", NETWORKS)


@either_network
@pytest.mark.parametrize("variant", VARIANTS)
def test_illegal_moves_have_probability_zero(variant, network):
    batch = positions(variant)
    distribution = new_policy(variant, network=network).get_distribution(tensors(batch))
    chances = distribution.probabilities().detach().numpy()
    np.testing.assert_array_equal(chances > 0, batch["action_mask"] == 1)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-5)
    rows = np.arange(len(chances))
    for actions in (distribution.sample(), distribution.mode()):
        assert batch["action_mask"][rows, actions.numpy()].all()


def test_the_distribution_equals_a_masked_one_over_all_actions():
    batch = positions()
    distribution = new_policy("yukon").get_distribution(tensors(batch))
    chances = distribution.probabilities()
    whole = MaskableCategorical(probs=chances, masks=batch["action_mask"])
    actions = distribution.sample()
    torch.testing.assert_close(distribution.log_prob(actions), whole.log_prob(actions))
    torch.testing.assert_close(distribution.entropy(), whole.entropy())
    torch.testing.assert_close(distribution.mode(), chances.argmax(dim=1))


def test_draws_follow_the_probabilities():
    distribution = new_policy("yukon").get_distribution(tensors(positions(n=1)))
    chances = distribution.probabilities().detach().numpy()[0]
    drawn = np.bincount([int(distribution.sample()) for _ in range(2000)], minlength=417) / 2000
    np.testing.assert_allclose(drawn, chances, atol=0.05)


def test_masks_given_besides_narrow_the_moves():
    batch, policy = positions(), new_policy("yukon")
    masks = batch["action_mask"].copy()
    masks[np.arange(len(masks)), policy.get_distribution(tensors(batch)).mode().numpy()] = 0
    narrow = masks.any(axis=1)
    batch, masks = {name: array[narrow] for name, array in batch.items()}, masks[narrow]
    before = policy.get_distribution(tensors(batch), masks)
    after = policy.get_distribution(tensors(batch))
    after.apply_masking(masks)
    np.testing.assert_array_equal(before.probabilities().detach().numpy() > 0, masks == 1)
    np.testing.assert_array_equal(after.probabilities().detach().numpy() > 0, masks == 1)


@either_network
def test_judging_again_gives_what_choosing_gave(network):
    batch, policy = tensors(positions()), new_policy("yukon", network=network)
    actions, values, log_probs = policy(batch)
    again, log_probs_again, entropies = policy.evaluate_actions(batch, actions)
    torch.testing.assert_close(again, values)
    torch.testing.assert_close(log_probs_again, log_probs)
    torch.testing.assert_close(policy.predict_values(batch), values)
    assert (entropies >= 0).all()
    assert values.shape == (12, 1)


def test_predict_takes_one_position_or_many():
    batch, policy = positions(), new_policy("yukon")
    many, _ = policy.predict(batch, deterministic=True)
    one, _ = policy.predict({name: array[3] for name, array in batch.items()}, deterministic=True)
    assert one == many[3]


@either_network
def test_hidden_cards_change_nothing(network):
    agent, rng = new_agent("yukon", network=network), np.random.default_rng(0)
    game = Game("yukon", deal=20_000)
    for _ in range(20):
        views = [game, *(game.determinize(rng) for _ in range(3))]
        observations = np.stack([view.observation() for view in views])
        masks = np.stack([view.action_mask() for view in views])
        actions = agent.act(observations, masks)
        assert len(set(actions.tolist())) == 1
        game.play(int(actions[0]))


@either_network
def test_one_policy_judges_games_of_several_variants_at_once(network):
    variants = ("yukon", "australian")
    policy = new_policy(*variants, network=network)
    batches = [positions(variant) for variant in variants]
    mixed = {
        name: np.concatenate([batch[name] for batch in batches])[[0, 12, 1, 13, 2, 14]]
        for name in batches[0]
    }
    mixed["variant"] = np.array([[0], [1]] * 3, np.int8)
    chances = policy.get_distribution(tensors(mixed)).probabilities()
    for index, variant in enumerate(variants):
        alone = PolicyAgent(variant, policy.network)
        part = {name: array[:3] for name, array in batches[index].items()}
        expected = alone.act(part["observation"], part["action_mask"])
        np.testing.assert_array_equal(chances[index::2].argmax(dim=1).numpy(), expected)


@either_network
def test_the_rules_of_a_game_matter(network):
    policy, batch = new_policy("yukon", "russian", network=network), positions("russian")
    values = []
    for which in (0, 1):
        variant = np.full((len(batch["observation"]), 1), which, np.int8)
        values.append(policy.predict_values(tensors({**batch, "variant": variant})))
    assert not torch.allclose(values[0], values[1])


@either_network
@pytest.mark.parametrize("variant", ["yukon", "raw-prawn"])
def test_a_saved_agent_plays_the_same(variant, network, tmp_path):
    agent, batch = new_agent(variant, "russian", network=network), positions(variant)
    agent.save(tmp_path / "model.pt")
    loaded = cast(PolicyAgent, agents.load(f"ppo:{tmp_path}"))
    assert loaded.variant == VARIANTS[variant]
    assert [known.key for known in loaded.trained_on] == [variant, "russian"]
    actions = agent.act(batch["observation"], batch["action_mask"])
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(
        loaded.act(batch["observation"], batch["action_mask"] == 1), actions
    )
    np.testing.assert_array_equal(
        loaded.act(batch["observation"][:1], batch["action_mask"][:1]), actions[:1]
    )
    assert [path.name for path in tmp_path.iterdir()] == ["model.pt"]


def test_a_model_may_be_loaded_for_another_of_its_games(tmp_path):
    new_agent("yukon", "russian").save(tmp_path / "model.pt")
    loaded = agents.load(f"ppo:{tmp_path},variant=russian")
    assert cast(PolicyAgent, loaded).variant == VARIANTS["russian"]
    with pytest.raises(AgentError, match="'klondike', a variant that is not known"):
        agents.load(f"ppo:{tmp_path},variant=klondike")
    with pytest.raises(AgentError, match="unknown option 'depth'"):
        agents.load(f"ppo:{tmp_path},depth=2")


def test_policies_of_the_repository_are_loaded_by_their_variant(tmp_path, monkeypatch):
    monkeypatch.setattr(agents, "WEIGHTS", tmp_path)
    new_agent("russian").save(tmp_path / "policy-russian.pt")
    assert cast(PolicyAgent, agents.load("policy:russian")).variant == VARIANTS["russian"]
    with pytest.raises(AgentError, match="no trained policy for yukon; there are for russian"):
        agents.load("policy:yukon")
    with pytest.raises(AgentError, match="needs a variant, not 'klondike'"):
        agents.load("policy:klondike")


def test_the_ranking_is_by_probability():
    agent, batch = new_agent("yukon"), positions(n=1)
    observation, mask = batch["observation"][0], batch["action_mask"][0]
    moves = agent.rank(observation, mask)
    chances = [move.numbers["probability"] for move in moves]
    assert sorted(move.action for move in moves) == np.flatnonzero(mask).tolist()
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) == pytest.approx(1.0)
    assert moves[0].action == agent.act(batch["observation"], batch["action_mask"])[0]


def test_bad_files_are_refused(tmp_path):
    path = tmp_path / "model.pt"
    with pytest.raises(AgentError, match="there is no file"):
        PolicyAgent.load(path)
    path.write_text("no model")
    with pytest.raises(AgentError, match="holds no trained agent"):
        PolicyAgent.load(path)
    torch.save({"weights": torch.zeros(3)}, path)
    with pytest.raises(AgentError, match="holds no trained agent"):
        PolicyAgent.load(path)


def test_a_mask_that_allows_nothing_is_refused():
    batch = positions()
    batch["action_mask"][4] = 0
    with pytest.raises(AgentError, match="position 4"):
        new_agent("yukon").act(batch["observation"], batch["action_mask"])


@either_network
def test_one_network_serves_all_variants(network):
    one = NETWORKS[network](8)
    for variant in VARIANTS:
        batch = positions(variant, n=3)
        actions = PolicyAgent(variant, one).act(batch["observation"], batch["action_mask"])
        assert batch["action_mask"][np.arange(3), actions].all()


@pytest.mark.skipif(not COMPILED, reason="dozens of games")
@pytest.mark.parametrize("path", sorted(WEIGHTS.glob("policy-*.pt")), ids=lambda path: path.stem)
def test_the_policies_that_come_along_play_far_better_than_chance(path: Path) -> None:
    variant = path.stem.removeprefix("policy-")
    agent = agents.load(f"policy:{variant}")
    won = [evaluate(who, variant, range(10_000, 10_060)).won for who in (agent, RandomAgent(0))]
    assert won[0].sum() > 2 * won[1].sum() + 5

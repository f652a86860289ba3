"""The value, fitted to labelled positions.

In training a position is a row: how often each token is there, then the features. So the
embeddings and the weights of the features are one linear layer.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numba import njit
from torch import nn
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits

from agents.reveal_search.labels import Samples
from agents.reveal_search.value import N_FEATURES, N_TOKENS, WIDTH, WIDTH_2, Network

# What a loss is of: a batch, before the step on it, or the held-out samples.
TRAINING, HELD_OUT = "training", "held_out"
# The share of the steps in which the learning rate rises. PyTorch divides by zero where this is
# exactly one step, which it never is.
WARM_UP = 0.12


class ValueModule(nn.Module):
    """The network of the value, as PyTorch trains it."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(N_TOKENS + N_FEATURES, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH_2)
        self.out = nn.Linear(WIDTH_2, 1)
        # Few tokens are in a position, so each may weigh more than in a layer whose inputs all are.
        nn.init.normal_(self.first.weight, std=0.05)
        nn.init.zeros_(self.first.bias)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Returns the logits, (n,), of rows, float32 (n, N_TOKENS + N_FEATURES)."""
        return self.out(torch.relu(self.second(torch.relu(self.first(rows))))).squeeze(1)

    def load(self, network: Network) -> None:
        """Takes over the weights of a value."""
        first = np.concatenate((network.tokens, network.features)).T
        weights = (
            first, network.bias, network.hidden.T, network.hidden_bias,
            network.out[np.newaxis], network.out_bias,
        )  # fmt: skip
        with torch.no_grad():
            for mine, given in zip(self.parameters(), weights, strict=True):
                mine.copy_(torch.from_numpy(np.ascontiguousarray(given)))

    def export(self) -> Network:
        """Copies the weights for the planner."""
        weights = {
            name: np.array(weight.detach().numpy().T, order="C")
            for name, weight in self.named_parameters()
        }
        return Network(
            tokens=weights["first.weight"][:N_TOKENS],
            features=weights["first.weight"][N_TOKENS:],
            bias=weights["first.bias"],
            hidden=weights["second.weight"],
            hidden_bias=weights["second.bias"],
            out=weights["out.weight"][:, 0],
            out_bias=weights["out.bias"],
        )


def join_samples(parts: Sequence[Samples]) -> Samples:
    """Puts samples one after the other."""
    ends = np.cumsum([0, *(len(part.tokens) for part in parts)])
    starts = [part.starts[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return Samples(
        tokens=np.concatenate([part.tokens for part in parts]),
        starts=np.concatenate([*starts, ends[-1:]]),
        features=np.concatenate([part.features for part in parts]),
        labels=np.concatenate([part.labels for part in parts]),
    )


def fit(
    samples: Samples,
    held_out: Samples,
    epochs: int = 3,
    batch_size: int = 2048,
    learning_rate: float = 2e-3,
    seed: int = 0,
    first: Network | None = None,
    note: Callable[[str, int, float], None] = lambda name, n_seen, loss: None,
) -> Network:
    """Fits the value, and returns it as it was after its best epoch.

    Args:
        samples: What it learns from.
        held_out: Samples of other games, which tell the best epoch.
        epochs: Passes over the samples.
        batch_size: Samples in a gradient step.
        learning_rate: At its height; it rises from near 0, and falls back (one cycle).
        seed: For the weights and the order of the samples.
        first: The value to start from; None for random weights.
        note: Told, after each step, TRAINING, how many samples were seen and the loss; after each
            epoch HELD_OUT and the same.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    module = ValueModule()
    if first is not None:
        module.load(first)
    optimizer = torch.optim.Adam(module.parameters(), lr=learning_rate)
    n = len(samples.labels)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, epochs * -(-n // batch_size), pct_start=WARM_UP
    )
    best, lowest, n_seen = module.export(), np.inf, 0
    for _ in range(epochs):
        for rows, labels in _batches(samples, rng.permutation(n), batch_size):
            loss = binary_cross_entropy_with_logits(module(rows), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            n_seen += len(labels)
            note(TRAINING, n_seen, loss.item())
        loss_held_out = _loss(module, held_out, batch_size)
        note(HELD_OUT, n_seen, loss_held_out)
        if loss_held_out < lowest:
            best, lowest = module.export(), loss_held_out
    return best


def constant_loss(samples: Samples, held_out: Samples) -> float:
    """The loss of who says of all held-out samples what the samples are on average."""
    labels = torch.from_numpy(held_out.labels)
    average = torch.full_like(labels, float(samples.labels.mean()))
    return binary_cross_entropy(average, labels).item()


@torch.no_grad()
def _loss(module: ValueModule, samples: Samples, batch_size: int) -> float:
    n = len(samples.labels)
    total = 0.0
    for rows, labels in _batches(samples, np.arange(n), batch_size):
        total += binary_cross_entropy_with_logits(module(rows), labels, reduction="sum").item()
    return total / n


def _batches(
    samples: Samples, order: np.ndarray, batch_size: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The samples in an order, as rows and labels; the rows are overwritten by the next ones."""
    room = np.empty((min(batch_size, len(order)), N_TOKENS + N_FEATURES), np.float32)
    for start in range(0, len(order), batch_size):
        which = order[start : start + batch_size]
        rows = room[: len(which)]
        _count_tokens(samples.tokens, samples.starts, which, rows)
        rows[:, N_TOKENS:] = samples.features[which]
        yield torch.from_numpy(rows), torch.from_numpy(samples.labels[which])


@njit
def _count_tokens(tokens, starts, which, rows):
    rows[:] = 0
    for row in range(len(which)):
        for index in range(starts[which[row]], starts[which[row] + 1]):
            rows[row, tokens[index]] += 1

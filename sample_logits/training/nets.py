"""Small networks, the three losses, and one plain training loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from sample_io import FloatArray, IntArray

Loss = Callable[[Tensor, Tensor], Tensor]


def make_deterministic(seed: int) -> None:
    """Seed torch, and make runs on one CPU repeat exactly."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy."""
    return functional.cross_entropy(logits, labels)


def label_smoothing(amount: float) -> Loss:
    """Return the cross-entropy against labels mixed with ``amount`` of the uniform vector."""

    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(logits, labels, label_smoothing=amount)

    return loss


def focal(gamma: float) -> Loss:
    """Return the focal loss, the mean of ``-(1 - p)**gamma * log(p)`` at the label."""

    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        log_p = functional.log_softmax(logits, dim=1).gather(1, labels[:, None])[:, 0]
        return ((1 - log_p.exp()) ** gamma * -log_p).mean()

    return loss


def small_cnn(channels: int, hidden: int, classes: int) -> nn.Sequential:
    """Return a network of two convolutions and two linear layers for 28 x 28 grey images."""
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(2 * channels * 49, hidden),
        nn.ReLU(),
        nn.Linear(hidden, classes),
    )


@dataclass(frozen=True)
class Schedule:
    """How long and how fast a network is trained."""

    epochs: int
    batch_size: int
    learning_rate: float


@dataclass(frozen=True)
class Fit:
    """What a training run saw on its validation rows: one NLL per epoch."""

    validation_nll: list[float]

    @property
    def best_epoch(self) -> int:
        """Return the epoch, counted from 1, with the lowest validation NLL."""
        return int(np.argmin(self.validation_nll)) + 1


def train(
    net: nn.Module,
    loss: Loss,
    rows: tuple[Tensor, Tensor],
    validation: tuple[Tensor, IntArray],
    schedule: Schedule,
    after_epoch: Callable[[int], None] | None = None,
) -> Fit:
    """Train with Adam for a fixed number of epochs; nothing is selected on the way.

    Parameters
    ----------
    net
        The network, changed in place.
    loss
        The training loss.
    rows
        Inputs and labels to train on.
    validation
        Inputs and labels on which the NLL is noted after each epoch.
    schedule
        Epochs, batch size and learning rate.
    after_epoch
        Called with the number of each epoch, from 1, once it is trained.
    """
    inputs, labels = rows
    optimiser = torch.optim.Adam(net.parameters(), lr=schedule.learning_rate)
    noted: list[float] = []
    for epoch in range(schedule.epochs):
        net.train()
        for batch in torch.split(torch.randperm(len(labels)), schedule.batch_size):
            optimiser.zero_grad()
            value = loss(net(inputs[batch]), labels[batch])
            value.backward()  # type: ignore[no-untyped-call, unused-ignore]
            optimiser.step()
        noted.append(nll(predict(net, validation[0]), validation[1]))
        print(f"  epoch {epoch + 1:2d}: validation NLL {noted[-1]:.4f}", flush=True)
        if after_epoch is not None:
            after_epoch(epoch + 1)
    return Fit(noted)


def predict(net: nn.Module, inputs: Tensor) -> FloatArray:
    """Return the logits of a network as float32."""
    net.eval()
    with torch.no_grad():
        parts = [net(part) for part in torch.split(inputs, 1000)]
    logits: FloatArray = torch.cat(parts).numpy().astype(np.float32)
    return logits


def nll(logits: FloatArray, labels: IntArray) -> float:
    """Return the mean negative log-likelihood of the labels."""
    wide = logits.astype(np.float64)
    wide -= wide.max(axis=1, keepdims=True)
    log_p = wide - np.log(np.exp(wide).sum(axis=1, keepdims=True))
    return float(-log_p[np.arange(len(labels)), labels].mean())

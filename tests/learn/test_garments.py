"""You against the network: how its pictures were drawn, and what stands beside your answers."""

import math
import struct
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from calibcore.data import EventScores
from dashboard.learn import data, garments, own
from dashboard.learn.own import OwnAnswer
from dashboard.learn.questions import OwnQuestion
from dashboard.views.learn import own_words as words
from tests import reference


def test_pictures_were_drawn_by_the_score_alone() -> None:
    logits, labels = data.sample().test.logits, data.sample().test.labels
    first, score, asked = [], [], []
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        best, second = reference.ranking(row)[:2]
        first.append(best)
        score.append(1 / (1 + math.exp(row[second] - row[best])))
        asked.append(label in (best, second))
    ranges = np.minimum((np.array(score) * 100 - 50) // 10, 4)
    rng = np.random.default_rng(20260)
    rows = np.sort(
        np.concatenate(
            [
                rng.choice(np.flatnonzero(np.array(asked) & (ranges == k)), 24, replace=False)
                for k in range(5)
            ]
        )
    )
    assert rows.tolist() == list(garments.pictures())
    every = garments.network_on_all()
    kept = np.flatnonzero(asked)
    assert every.scores == pytest.approx(np.array(score)[kept])
    assert every.hits.tolist() == (np.array(first) == labels)[kept].tolist()


def test_the_two_answers_are_the_likeliest_classes_and_one_is_right() -> None:
    held = data.sample().test
    wrong = 0
    for seed in range(20):
        drawn = garments.draw_pictures(seed)
        event = garments.network_scores(drawn)
        assert Counter(garments.range_of(event.scores).tolist()) == dict.fromkeys(range(5), 4)
        for question, hit in zip(drawn, event.hits, strict=True):
            assert question.row is not None
            label = held.class_names[held.labels[question.row]]
            assert question.answers[question.right] == label
            best = held.class_names[int(held.logits[question.row].argmax())]
            assert best in question.answers
            assert bool(hit) == (best == label)
            wrong += not hit
    assert wrong > 40


def test_the_file_of_pictures_is_small_and_its_licence_beside_it() -> None:
    folder = Path(garments.__file__).parent
    assert (folder / "garments.npz").stat().st_size <= 100_000
    assert "2017 Zalando SE" in (folder / "garments-LICENSE.txt").read_text("utf-8")
    assert len(garments.pictures()) == 120
    assert {one.shape for one in garments.pictures().values()} == {(28, 28)}


def test_a_picture_is_a_png_of_its_pixels() -> None:
    row, pixels = next(iter(garments.pictures().items()))
    png = garments.png_of(row, 3)
    at, parts = 8, {}
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        parts[png[at + 4 : at + 8]] = png[at + 8 : at + 8 + size]
        at += 12 + size
    assert struct.unpack(">II", parts[b"IHDR"][:8]) == (84, 84)
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(84, 85)
    assert not lines[:, 0].any()
    assert np.array_equal(lines[1::3, 2::3], pixels)


def test_the_network_s_answers_stand_beside_yours() -> None:
    row = next(iter(garments.pictures()))
    shown = OwnQuestion("garments", "What is this?", ("Coat", "Shirt"), 1, "", "its source", row)
    beside = EventScores([0.998], [False])
    ((picture, you, network, truth),) = words.picture_rows(
        [shown], [OwnAnswer(80, right=True)], beside
    )
    assert picture.startswith("![Grey picture of a garment, question 1](data:image/png;base64,")
    assert you == "\u2713 Shirt, 80%"
    assert network == "\u2717 Coat, \\> 99%"
    assert truth.startswith("**Shirt.**")


def test_all_pictures_show_what_twenty_cannot() -> None:
    result = own.result_of(garments.network_on_all())
    assert words.badge_of(result).word == "Overconfident"
    shown = [
        words.badge_of(own.result_of(garments.network_scores(garments.draw_pictures(seed)))).word
        for seed in range(20)
    ]
    assert shown.count("No miscalibration detected") > 10

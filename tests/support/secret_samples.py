"""All samples of secrets, and of texts without one, together."""

from support import secret_rounds
from support.secret_negatives import NEGATIVES
from support.secret_positives import HELD_OUT, POSITIVES
from support.secret_shapes import split

FOUND = [(family, sample) for family, samples in POSITIVES.items() for sample in samples]
KEPT_ASIDE = [(family, sample) for family, samples in HELD_OUT.items() for sample in samples]
CLEAN = [(family, text) for family, texts in NEGATIVES.items() for text in texts]
LATER = [sample for round in secret_rounds.POSITIVES.values() for sample in round]
LATER_CLEAN = [text for round in secret_rounds.NEGATIVES.values() for text in round]
EVERYTHING = [
    *(split(sample)[0] for _, sample in FOUND + KEPT_ASIDE),
    *(text for _, text in CLEAN),
    *(split(sample)[0] for sample in LATER),
    *LATER_CLEAN,
]
CHUNKS = [EVERYTHING[at : at + 200] for at in range(0, len(EVERYTHING), 200)]

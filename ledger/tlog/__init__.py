"""Verifiable-log primitives: RFC 6962 trees, C2SP signed notes and tree heads. Knows no event."""


class Invalid(Exception):
    """Something that does not hold: a proof, a note, a key or a head. The base of this package's.

    Invalid
      merkle.ProofInvalid
      note.NoteInvalid
      note.KeyInvalid
      head.HeadInvalid
    """

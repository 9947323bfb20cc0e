from capture.corpus.case import Case

JUNIT: dict[str, Case] = {}

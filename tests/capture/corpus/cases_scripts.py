from capture.corpus.case import Case

RSPEC: dict[str, Case] = {}
PHPUNIT: dict[str, Case] = {}
PROVE: dict[str, Case] = {}
TAP: dict[str, Case] = {}

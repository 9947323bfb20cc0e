"""Pure rules and values: events, the Capsule, evidence, decisions, the Pack. No input or output."""

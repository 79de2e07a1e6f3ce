# SPDX-License-Identifier: Apache-2.0
"""The plan of faults: which rule fires for which request."""

import fnmatch
import hashlib
import inspect
import threading

import faults

CHOICE = {"path": str, "method": str, "skip": int, "times": int, "every": int, "chance": float, "seed": int}
PLAN = {"rules": list, "latency": float, "bytes_per_s_a_connection": float, "reset": bool}


def check(facts, types, what):
    """Raises ValueError unless all members have a known name and their type."""
    for name, value in facts.items():
        if name not in types:
            raise ValueError(f"{what} has no '{name}'; it has {', '.join(types)}")
        kinds = (int, float) if types[name] is float else (types[name],)
        if not isinstance(value, kinds) or isinstance(value, bool) and types[name] is not bool:
            raise ValueError(f"{what}: '{name}' is {value!r}, not {types[name].__name__}")
        least = 1 if name == "every" else 0
        if (types[name] is float or name in ("skip", "times", "every")) and not least <= value < 1e15:
            raise ValueError(f"{what}: '{name}' is {value!r}; it must be at least {least} and below 1e15")


class Rule:
    """One rule and its counters."""

    def __init__(self, facts):
        if not isinstance(facts, dict) or facts.get("do") not in faults.FAULTS:
            raise ValueError(f"{facts!r}: 'do' must be one of {', '.join(faults.FAULTS)}")
        self.facts, self.name = facts, facts["do"]
        self.apply_fault = faults.FAULTS[self.name]
        parameters = {name: one for name, one in inspect.signature(self.apply_fault).parameters.items()
                      if one.kind == one.KEYWORD_ONLY}
        types = {name: one.annotation for name, one in parameters.items()}
        check(facts, {"do": str} | CHOICE | types, f"the rule '{self.name}'")
        missing = [name for name, one in parameters.items() if one.default is one.empty and name not in facts]
        if missing:
            raise ValueError(f"the rule '{self.name}' needs '{missing[0]}'")
        self.parameters = {name: facts[name] for name in parameters if name in facts}
        self.matched = self.fired = 0

    def matches(self, request, response):
        if self.name == "auth" and request.headers.get("authorization") == f"Bearer {self.facts['token']}":
            return False
        if self.name in faults.OF_RANGES and response.status != 206:
            return False
        if self.facts.get("method", request.method) != request.method:
            return False
        return fnmatch.fnmatchcase(request.path, self.facts.get("path", "*"))

    def is_due(self, match):
        """Whether the rule fires for its match of this number, the first being 0."""
        turn = match - self.facts.get("skip", 0)
        if turn < 0 or self.fired >= self.facts.get("times", self.fired + 1):
            return False
        if (turn + 1) % self.facts.get("every", 1):
            return False
        return "chance" not in self.facts or drawn(self.facts.get("seed", 0), match) < self.facts["chance"]

    def apply(self, response, request):
        self.apply_fault(response, request, **self.parameters)


def drawn(seed, match):
    """A number in [0, 1) that depends only on these."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {match}".encode(), digest_size=8).digest(), "big") / 2**64


class Plan:
    """Rules and rates, as JSON gave them: a list of rules, or an object with `rules` and the other members of PLAN."""

    def __init__(self, facts):
        facts = {"rules": facts} if isinstance(facts, list) else facts
        if not isinstance(facts, dict):
            raise ValueError("a plan is a list of rules, or an object")
        check(facts, PLAN, "the plan")
        self.rules = [Rule(rule) for rule in facts.get("rules", [])]
        self.latency = facts.get("latency", 0)
        self.bytes_per_s = facts.get("bytes_per_s_a_connection", 0)
        self.lock = threading.Lock()

    def take_counters(self, old):
        """Rules that an old plan also has go on counting where these were."""
        left = list(old.rules)
        for rule in self.rules:
            same = next((one for one in left if one.facts == rule.facts), None)
            if same:
                left.remove(same)
                rule.matched, rule.fired = same.matched, same.fired

    def choose(self, request, response):
        """Returns the numbers of the rules that fire for a request with this right response.

        A match counts even if an earlier rule fires.
        """
        chosen, is_done = [], False
        with self.lock:
            for number, rule in enumerate(self.rules):
                if not rule.matches(request, response):
                    continue
                rule.matched += 1
                if is_done or not rule.is_due(rule.matched - 1):
                    continue
                rule.fired += 1
                chosen.append(number)
                is_done = rule.name not in faults.COMBINE
        return chosen

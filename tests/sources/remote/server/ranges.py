# SPDX-License-Identifier: Apache-2.0
"""Ranges and conditions of requests, as RFC 9110 defines them."""

import re

RANGE = re.compile(r"\s*bytes=\s*(?:([0-9]{1,18})-([0-9]{1,18})?|-([0-9]{1,18}))\s*", re.IGNORECASE)
ETAG = re.compile(r'(?:W/)?"[^"]*"')


class PastEnd(Exception):
    """The range has no byte of the file."""


def asked_range(value, size):
    """Returns the first and last byte that a Range header asks for.

    Returns None if the header has no effect: it has another unit, several ranges or a wrong form.
    """
    found = RANGE.fullmatch(value)
    if not found:
        return None
    first, last, suffix = (None if digits is None else int(digits) for digits in found.groups())
    if suffix is not None:
        if suffix == 0:
            raise PastEnd
        return (max(0, size - suffix), size - 1) if size else None
    if last is not None and last < first:
        return None
    if first >= size:
        raise PastEnd
    return first, size - 1 if last is None else min(last, size - 1)


def refusal(headers, etag):
    """Returns 412 or 304 if If-Match or If-None-Match refuse the file, otherwise None. `etag` is a strong one."""
    wanted = headers.get("if-match")
    if wanted is not None and wanted.strip() != "*" and etag not in ETAG.findall(wanted):
        return 412
    unwanted = headers.get("if-none-match")
    if unwanted is None:
        return None
    known = [tag.removeprefix("W/") for tag in ETAG.findall(unwanted)]
    return 304 if unwanted.strip() == "*" or etag in known else None


def range_holds(headers, etag, modified):
    """Whether If-Range, an ETag or a date, lets the Range header have its effect."""
    condition = headers.get("if-range")
    return condition is None or condition.strip() in (etag, modified)

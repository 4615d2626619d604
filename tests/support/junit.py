"""JUnit XML as CI servers take it: by the schema of Jenkins, and read by junitparser."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path

import xmlschema
from junitparser import JUnitXml, TestCase, TestSuite
from junitparser.junitparser import Error, Failure, Skipped

__all__ = ("cases", "is_red", "kinds", "read")

_SCHEMA = Path(__file__).parent.parent / "reports" / "data" / "junit-10.xsd"


@cache
def _schema() -> xmlschema.XMLSchema10:
    return xmlschema.XMLSchema10(str(_SCHEMA))


def read(written: bytes) -> TestSuite:
    """The only suite of a file, once the schema has found nothing and its counts are those of its cases."""
    _schema().validate(BytesIO(written))
    document = JUnitXml.fromstring(written)
    (suite,) = document
    counted = (suite.tests, suite.failures, suite.errors, suite.skipped)
    told = [one.result[0] if one.result else None for one in suite]
    kinds = [sum(isinstance(one, kind) for one in told) for kind in (Failure, Error, Skipped)]
    assert counted == (len(told), *kinds)
    assert (document.tests, document.failures, document.errors) == counted[:3]
    return suite


def cases(written: bytes) -> dict[str, TestCase]:
    """The cases of a file by name, no two of which have the same name and group."""
    found = list(read(written))
    assert len({(case.classname, case.name) for case in found}) == len(found)
    return {case.name: case for case in found}


def kinds(written: bytes) -> dict[str, str]:
    """What became of each case: passed, failure, error, or skipped."""
    return {name: type(case.result[0]).__name__.lower() if case.result else "passed" for name, case in cases(written).items()}


def is_red(written: bytes) -> bool:
    """Whether a CI server shows the file as failed."""
    suite = read(written)
    return bool(suite.failures or suite.errors)

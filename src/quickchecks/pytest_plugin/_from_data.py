"""One test for each item of a dataset: `@evals_from("cases.jsonl", target=agent, gates=[...])`."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from hashlib import sha256
from inspect import Parameter, Signature, isasyncgenfunction, iscoroutinefunction, isgeneratorfunction, signature, unwrap
from os import PathLike, fspath
from pathlib import Path
from types import FunctionType
from typing import Any, Unpack, cast

import pytest
from msgspec import UNSET, Struct

from quickchecks._entries import Assertion, entries_of_turns, gates_of, scorers_of
from quickchecks._evaluation import EvalOptions, Evaluation, Options
from quickchecks._items import Item, items_of, load_items
from quickchecks._results.evaluation import EvalResult
from quickchecks.errors import ItemError, RecordingError, ScorerDefinitionError, SettingsError
from quickchecks.pytest_plugin import DATASET, ITEM_ARGUMENT
from quickchecks.pytest_plugin._reasons import name_of, reasons

__all__ = ("Dataset", "evals_from", "parametrize")

#: What the function may take beside fixtures.
_GIVEN = ("item", "run", "result")
#: The longest id of a test, as pytest writes it.
_LONGEST = 80
#: What tests have already, and what is said then.
_REFUSED = {
    "record": "pytest --quickchecks-record records what the target answers",
    "progress": "pytest shows how far it is",
    "on_error": "what the target raises is the failure of that test alone",
    "concurrency": "each test runs one item; pytest-xdist runs tests side by side",
}


class Dataset(Struct, frozen=True):
    """What `evals_from` was given, as the function that pytest collects carries it.

    Args:
        data: The file, or the items.
        fields: Where the records of the file have the fields of an item.
        has_target: Whether something can be asked.
        module: The name of the module in which the function stands.
    """

    data: str | PathLike[str] | list[Item]
    fields: Mapping[str, str] | None
    has_target: bool
    module: str


def evals_from(
    data: str | PathLike[str] | Iterable[object],
    *,
    target: object = None,
    gates: Iterable[object] = (),
    scorers: Iterable[object] = (),
    fields: Mapping[str, str] | None = None,
    **options: Unpack[EvalOptions],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make one test for each item of a dataset.

    Each test asks the target for its item and scores what it answers; it fails when a gate or a threshold does not pass, or
    the target raises. Then the function runs, which may assert more. It may take `item`, `run`, `result`, and any fixtures,
    among them one that is called `target`, which is asked where no `target=` is given.

    Args:
        data: A file of items, from the folder of the test file; or the items.
        target: What is asked, as `run_evals` takes it.
        gates: What must pass.
        scorers: What is measured; the mean of a `Threshold` is that of one item.
        fields: Where the records of the file have the fields of an item, such as {"input": "question"}.
        options: timeout, retries, repetitions, max_errors and the other options of `run_evals`, for each item.

    Returns:
        A decorator for a test function, synchronous or not.

    Raises:
        SettingsError: An option makes no sense here, nothing would be asserted, or what is decorated is no test function.
        ScorerDefinitionError: A gate can only be judged over many items.

    Example:
        >>> from quickchecks import checks
        >>> from quickchecks.pytest_plugin import evals_from
        >>> @evals_from(["Hello"], target=lambda text: text + "!", gates=[checks.includes("hello")])
        ... def test_greeting(run):
        ...     assert run.text.endswith("!")
    """
    for name, instead in _REFUSED.items():
        if name in options:
            raise SettingsError(f"evals_from takes no {name}: {instead}")
    settings = Options.of({"progress": False, **options})
    measured, required = list(scorers), list(gates)
    plan = [*gates_of(required), *scorers_of(measured)]
    if not isinstance(data, (str, PathLike)):
        data = items_of(data)
        plan += [entry for item in data for entry in entries_of_turns(item)]
    elif fspath(data) == "-":
        raise SettingsError("evals_from reads a file, and not standard input")
    for entry in plan:
        _refuse_what_takes_many_items(entry, settings.repetitions)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        _refuse_what_is_no_test(function)
        takes = list(signature(function).parameters)
        _refuse_what_asserts_nothing(function, takes, plan, settings)
        if target is not None and "target" in takes:
            raise SettingsError(
                f"{function.__name__} takes the fixture target, and evals_from is given target=...: give one of them"
            )

        def begin(arguments: dict[str, object]) -> _One:
            if ITEM_ARGUMENT not in arguments:
                pytest.fail(
                    f"{function.__name__} got no item: evals_from needs the plugin of quickchecks, and a function or a "
                    "method of a plain class",
                    pytrace=False,
                )
            item = cast(Item, arguments.pop(ITEM_ARGUMENT))
            request = cast(pytest.FixtureRequest, arguments["request"] if "request" in takes else arguments.pop("request"))
            asked = arguments.get("target") if target is None else target
            return _One(request.node, item, asked, required, measured, settings)

        def given(result: EvalResult) -> dict[str, object]:
            known = {"item": result.items[0].item, "run": result.items[0].run, "result": result}
            return {name: value for name, value in known.items() if name in takes}

        @wraps(function)
        async def awaited(*instance: object, **arguments: object) -> None:
            __tracebackhide__ = True
            one = begin(arguments)
            result = one.judged(await one.evaluated())
            with one.named():
                await function(*instance, **arguments, **given(result))

        @wraps(function)
        def called(*instance: object, **arguments: object) -> object:
            __tracebackhide__ = True
            one = begin(arguments)
            result = one.judged(one.evaluated_elsewhere())
            with one.named():
                returned = function(*instance, **arguments, **given(result))
            if hasattr(returned, "__next__"):
                pytest.fail(f"{function.__name__} returned a generator, so that nothing that stands in it has run", pytrace=False)
            return returned

        test: Callable[..., Any] = awaited if iscoroutinefunction(function) else called
        test.__signature__ = _fixtures_of(function)  # type: ignore[attr-defined]
        has_target = target is not None or "target" in takes
        setattr(test, DATASET, Dataset(data, fields, has_target, function.__module__))
        return test

    return decorate


def _fixtures_of(function: Callable[..., Any]) -> Signature:
    """What pytest gives the test: the fixtures of the function, and the item."""
    own = signature(function)
    kept = [one for name, one in own.parameters.items() if name not in _GIVEN]
    more = [name for name in (ITEM_ARGUMENT, "request") if name not in own.parameters]
    return own.replace(parameters=[*kept, *(Parameter(name, Parameter.KEYWORD_ONLY) for name in more)])


def _refuse_what_is_no_test(function: object) -> None:
    if isinstance(function, type):
        raise SettingsError(
            f"evals_from decorates a test function, and {function.__qualname__} is a class: decorate the methods that test"
        )
    if not isinstance(function, FunctionType) or hasattr(function, "_pytestfixturefunction"):
        what = (
            "a fixture" if "ixture" in type(function).__name__ or isinstance(function, FunctionType) else type(function).__name__
        )
        raise SettingsError(
            f"evals_from decorates a test function, written with def or async def, and this is {what}: decorate the function "
            "itself, with evals_from directly above it"
        )
    innermost = unwrap(function)
    if isgeneratorfunction(innermost) or isasyncgenfunction(innermost):
        raise SettingsError(
            f"{function.__qualname__} contains yield, so that pytest would never run what stands in it: a test asserts, and "
            "what has to be set up and torn down belongs in a fixture"
        )


def refuse_uncollected(collector: pytest.Module | pytest.Class, name: str, function: FunctionType) -> None:
    """Refuse a function of `evals_from` whose name pytest passes over.

    Args:
        collector: The module or class in which it stands.
        name: Its name there.
        function: The function.

    Raises:
        pytest.Collector.CollectError: pytest does not collect it.
    """
    place = collector.obj
    own = function.__module__ in (getattr(place, "__module__", None), place.__name__)
    names = [known for known, held in vars(place).items() if held is function]
    if own and not any(map(collector.funcnamefilter, (name, *names))):
        wanted = ", ".join(collector.config.getini("python_functions"))
        raise pytest.Collector.CollectError(
            f"{collector.nodeid}: {name} is decorated with evals_from, and pytest does not collect it, because its name does not "
            f"begin as those of tests do ({wanted}): call it test_{name}"
        )


def _refuse_what_takes_many_items(entry: Assertion, repetitions: int) -> None:
    if entry.confidence is not None:
        raise ScorerDefinitionError(
            f"the gate {entry.identity} asks for confidence, which no single item gives, and here each test runs one item: "
            "leave it out, or judge the dataset in one test, result = evals(data=..., gates=[...])"
        )
    if entry.role == "gate" and entry.pass_rate != 1 and repetitions == 1:
        raise ScorerDefinitionError(
            f"the gate {entry.identity} asks for a pass_rate, and here each test runs one item once: give repetitions=..., so "
            "that it is the rate of the item's repetitions, or judge the dataset in one test, "
            "result = evals(data=..., gates=[...])"
        )


def _refuse_what_asserts_nothing(
    function: Callable[..., Any], takes: Sequence[str], plan: Sequence[Assertion], settings: Options
) -> None:
    asserts = any(entry.role == "gate" or entry.bounds is not None for entry in plan)
    if not asserts and not any(name in takes for name in _GIVEN):
        raise SettingsError(
            f"{function.__name__} would assert nothing: give evals_from gates=[...] or a Threshold, or let the function take "
            "run, item or result, and assert something of it"
        )
    if "run" in takes and settings.repetitions > 1:
        raise SettingsError(
            f"{function.__name__} takes run, and with repetitions there are several: take result, whose items have one run each"
        )


class _One(Struct, frozen=True):
    """The evaluation of one item in its test."""

    node: pytest.Item
    item: Item
    target: object
    gates: Sequence[object]
    scorers: Sequence[object]
    options: Options

    @contextmanager
    def named(self) -> Iterator[None]:
        """Let what the function raises say of which item it is."""
        try:
            yield
        except Exception as raised:
            raised.add_note(name_of(self.item))
            raise

    def _prepared(self) -> Evaluation:
        from quickchecks.pytest_plugin._recorded import prepared

        __tracebackhide__ = True
        scores = bool(self.gates or self.scorers)
        return prepared(self.node, [self.item], self.target, self.scorers, self.gates, self.options, scores=scores)

    async def evaluated(self) -> EvalResult:
        """Evaluate in the loop of the test; where that is not one of asyncio, in another."""
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self.evaluated_elsewhere()
        try:
            return await self._prepared().run()
        except asyncio.CancelledError as error:
            partial = getattr(error, "partial", None)
            if isinstance(partial, EvalResult):
                self._keep(partial)
            raise

    def evaluated_elsewhere(self) -> EvalResult:
        """Evaluate in the loop that all evaluations share.

        Raises:
            KeyboardInterrupt: It was broken off, which is meant for pytest.
        """
        __tracebackhide__ = True
        result = self._prepared().run_elsewhere()
        if result.interrupted:
            self._keep(result)
            raise KeyboardInterrupt
        return result

    def _keep(self, result: EvalResult) -> None:
        if result.assertions:  # where nothing is scored, there is nothing to show
            from quickchecks.pytest_plugin._session import keep

            keep(self.node, result)

    def judged(self, result: EvalResult) -> EvalResult:
        """Keep the result for the session, and let the test fail if it did not pass.

        Raises:
            pytest.fail.Exception: A gate or a threshold did not pass, or the target raised.
        """
        __tracebackhide__ = True
        self._keep(result)
        broke = any(item.errored for item in result.items) or result.error_count > result.max_errors
        if result.verdict not in (None, "passed") or (result.verdict is None and broke):
            pytest.fail("\n".join(reasons(result)), pytrace=False)
        return result


def parametrize(metafunc: pytest.Metafunc, dataset: Dataset) -> None:
    """Make one test for each item of a dataset, when its function is collected.

    Args:
        metafunc: The function.
        dataset: What `evals_from` was given.

    Raises:
        pytest.Collector.CollectError: The dataset cannot be read, or its items have to be asked and there is no target.
    """
    name = metafunc.definition.nodeid
    try:
        items = _read(dataset, metafunc)
    except (ItemError, RecordingError) as error:
        raise pytest.Collector.CollectError(f"{name}: {error}") from None
    asking = next((item for item in items if item.run is None and item.output is UNSET), None)
    if asking is not None and not dataset.has_target:
        where = asking.source or f"item {asking.id!r}"
        raise pytest.Collector.CollectError(
            f"{name}: {where} has to be asked, and there is no target: give evals_from target=..., or let the function take a "
            "fixture that is called target"
        )
    metafunc.parametrize(ITEM_ARGUMENT, items, ids=_test_ids(items))


def _read(dataset: Dataset, metafunc: pytest.Metafunc) -> list[Item]:
    if not isinstance(dataset.data, (str, PathLike)):
        return dataset.data
    module = getattr(sys.modules.get(dataset.module), "__file__", None)
    folder = Path(module).parent if module is not None else metafunc.definition.path.parent
    file = os.path.join(folder, dataset.data)
    try:
        nearer = os.path.relpath(file)
    except ValueError:  # it is on another drive
        nearer = file
    return load_items(file if nearer.startswith("..") else nearer, fields=dataset.fields)


def _test_ids(items: Sequence[Item]) -> list[str]:
    """Ids of tests, made of those of items: what node ids, files and terminals read as something else is replaced."""
    found: dict[str, None] = {}
    for item in items:
        name = _test_id(item.id or "")
        while name in found:
            name = f"{name[:_LONGEST]}~{sha256(f'{name}|{item.id}'.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        found[name] = None
    return list(found)


def _test_id(identity: str) -> str:
    plain = "".join("_" if unicodedata.category(sign)[0] == "C" else sign for sign in identity)
    plain = plain.replace("::", "..").replace("[", "(").replace("]", ")").replace("\\", "/").strip() or "_"
    if len(plain.encode("unicode_escape")) <= _LONGEST:
        return plain
    while len(plain.encode("unicode_escape")) > _LONGEST - 9:
        plain = plain[: -max(1, (len(plain) - _LONGEST) // 2)]
    return f"{plain}~{sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"

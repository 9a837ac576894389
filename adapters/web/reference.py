"""The page about the HTTP API, made from the OpenAPI document; no script and nothing from elsewhere."""

from collections.abc import Iterator, Mapping
from typing import Any

Row = tuple[str, str, bool]


def body_rows(document: Mapping[str, Any]) -> dict[str, list[Row]]:
    """For each call that takes a body, its fields: name, type and whether it is required."""
    return {
        f"{path} {method}": list(_rows(document, operation["requestBody"]))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }


def _rows(document: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[Row]:
    schema = _resolved(document, body["content"]["application/json"]["schema"])
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        yield name, _type_words(document, field), name in required


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    return document["components"]["schemas"][reference.rsplit("/", 1)[1]] if reference is not None else schema


def _type_words(document: Mapping[str, Any], field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    if "anyOf" in field:
        words = [_type_words(document, part) for part in field["anyOf"] if part.get("type") != "null"]
        return " or ".join(dict.fromkeys(words))
    if "$ref" in field:
        meant = _resolved(document, field)
        return _type_words(document, meant) if "enum" in meant else f"object: {', '.join(meant.get('properties', {}))}"
    if field.get("type") == "array":
        return f"list of {_type_words(document, field.get('items', {}))}"
    return str(field.get("type", "any JSON"))

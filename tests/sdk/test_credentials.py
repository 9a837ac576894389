"""Where the address and the keys come from, in which order, and what is refused."""

from pathlib import Path

import pytest
from handraise.credentials import Credentials, CredentialsError, find_credentials

from .conftest import write_credentials

URL = "http://127.0.0.1:8700"


def find(folder: Path, *, url: str | None = None, api_key: str | None = None, **environment: str) -> Credentials:
    return find_credentials(
        url=url, api_key=api_key, environment=environment, folder=folder / "work" / "deep", home=folder / "home"
    )


def test_options_win_over_the_environment_and_serve_for_everything(tmp_path: Path) -> None:
    found = find(tmp_path, url="http://a:1/", api_key="hr_1", HANDRAISE_URL="http://b:2", HANDRAISE_API_KEY="hr_2")

    assert found == Credentials("http://a:1", "hr_1", "hr_1", "--api-key")


def test_a_complete_environment_needs_no_file(tmp_path: Path) -> None:
    broken = write_credentials(tmp_path / "work" / ".handraise" / "credentials.json", URL)
    broken.write_text("{")

    found = find(tmp_path, HANDRAISE_URL="http://b:2", HANDRAISE_API_KEY=" hr_2\n")

    assert found == Credentials("http://b:2", "hr_2", "hr_2", "HANDRAISE_API_KEY")


@pytest.mark.parametrize("place", ["data", "work/deep/.handraise", "work/.handraise", ".handraise", "home/.handraise"])
def test_the_file_is_found_in_each_place(tmp_path: Path, place: str) -> None:
    path = write_credentials(tmp_path / place / "credentials.json", URL)

    found = find(tmp_path, HANDRAISE_DATA_DIR=str(tmp_path / "data"))

    assert found == Credentials(URL, "hr_agent", "hr_person", str(path))


def test_the_nearest_file_wins(tmp_path: Path) -> None:
    write_credentials(tmp_path / "work" / ".handraise" / "credentials.json", "http://far:1")
    write_credentials(tmp_path / "work" / "deep" / ".handraise" / "credentials.json", "http://near:1")

    assert find(tmp_path).url == "http://near:1"


def test_a_key_alone_takes_the_address_from_the_file(tmp_path: Path) -> None:
    write_credentials(tmp_path / "home" / ".handraise" / "credentials.json", URL)

    assert find(tmp_path, HANDRAISE_API_KEY="hr_x") == Credentials(URL, "hr_x", "hr_x", "HANDRAISE_API_KEY")


def test_an_address_alone_takes_the_keys_of_the_same_server(tmp_path: Path) -> None:
    write_credentials(tmp_path / "home" / ".handraise" / "credentials.json", URL)

    assert find(tmp_path, HANDRAISE_URL="http://localhost:8700").person_key == "hr_person"


def test_keys_are_never_sent_to_another_server(tmp_path: Path) -> None:
    write_credentials(tmp_path / "home" / ".handraise" / "credentials.json", URL)

    with pytest.raises(CredentialsError, match="there is no key for http://elsewhere:8700"):
        find(tmp_path, HANDRAISE_URL="http://elsewhere:8700")


def test_a_file_that_others_can_read_is_not_trusted(tmp_path: Path) -> None:
    path = write_credentials(tmp_path / "work" / ".handraise" / "credentials.json", URL, mode=0o644)

    with pytest.raises(CredentialsError, match="can be read by others") as caught:
        find(tmp_path)

    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"url": 3}', '{"url": "http://a", "agentKey": 3}', "\udcff", '{"url": "http://a"}']
)
def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    path = write_credentials(tmp_path / "work" / ".handraise" / "credentials.json", URL)
    path.write_bytes(content.encode(errors="surrogateescape"))

    with pytest.raises(CredentialsError) as caught:
        find(tmp_path)

    assert str(path) in str(caught.value)


def test_one_key_serves_for_both(tmp_path: Path) -> None:
    path = write_credentials(tmp_path / "work" / ".handraise" / "credentials.json", URL)
    path.write_text(f'{{"url": "{URL}", "agentKey": "hr_only"}}')

    assert find(tmp_path).person_key == "hr_only"


@pytest.mark.parametrize("environment", [{}, {"HANDRAISE_API_KEY": "hr_x"}, {"HANDRAISE_URL": "http://a"}])
def test_nothing_found_says_how_to_begin(tmp_path: Path, environment: dict[str, str]) -> None:
    with pytest.raises(CredentialsError, match=r"make run.*handraise-bot serve.*HANDRAISE_URL and HANDRAISE_API_KEY"):
        find(tmp_path, **environment)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8700", "ftp://a", "http://", "http://a:99999", "http://[", "http://a:0",
        "http://a b", "http://a\nb", "http://a\x1b", "http://a..b", f"http://{'a' * 64}.example", "http://.example",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(CredentialsError, match="is not the address of a server"):
        find(tmp_path, url=url, api_key="hr_x")


@pytest.mark.parametrize("key", ["hr_é", "hr x", "hr\nx"])
def test_a_key_that_cannot_be_one_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(CredentialsError, match="is not a key"):
        find(tmp_path, url=URL, api_key=key)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8700", "http://[::1]:8700", "https://bücher.example", "https://a.example./base", "http://a_b"],
)
def test_an_address_that_can_be_looked_up_is_taken(tmp_path: Path, url: str) -> None:
    assert find(tmp_path, url=url, api_key="hr_x").url == url

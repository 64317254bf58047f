"""Container images: what their entry point runs, and what their tag pins."""

import re

from ecolint.dialects.launchers import (
    BY_NAME,
    IMAGE_PACKAGES,
    IMAGES,
    WORKER_IMAGES,
    Launcher,
)
from ecolint.facts import Channel, Fact, Package, Role
from ecolint.words import Word

_RELEASE = re.compile(r"v?(\d+(?:\.\d+){1,2}(?:\.post\d+)?)(?![\w.])")


def image_launcher(image: str) -> tuple[Launcher | None, str | None]:
    """The launcher that an image's entry point runs, and the version that its tag names."""
    name, _, tag = image.partition("@")[0].rpartition(":")
    if not name or "/" in tag:
        name, tag = image.partition("@")[0], ""
    lowered = name.lower()
    for part, launcher in IMAGES:
        if part in lowered:
            return BY_NAME[launcher], tag or None
    return None, tag or None


def reads_environment(launcher: Launcher, image: str) -> bool:
    """Whether the image's entry point takes engine options from the environment."""
    worker = any(part in image.lower() for part in WORKER_IMAGES)
    return worker or launcher.spelled == "text-generation-launcher"


def image_facts(image: Word, role: Role) -> list[Fact]:
    """What an image brings: an unreleased build, or the version of a package by its tag."""
    from ecolint.toolchain import classify_image

    span = image.view.span(image.start, image.end)
    name, _, tag = image.text.partition("@")[0].rpartition(":")
    channel = classify_image(image.text)
    if channel is not None and channel is not Channel.STABLE:
        return [Package(span, name or image.text, "", None, channel, image.text, role)]
    package = next((held for part, held in IMAGE_PACKAGES if name.endswith(part)), None)
    version = _RELEASE.match(tag)
    if package is None or version is None or not image.known:
        return []
    pinned = version.group(1)
    return [Package(span, package, f"=={pinned}", pinned, Channel.STABLE, image.text, role)]

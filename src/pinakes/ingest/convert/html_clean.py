"""Taking the site away from around a page: navigation, banners, scripts, whatever is not shown."""

from __future__ import annotations

import re
from typing import Any

from pinakes.ingest.convert.html_lines import unmarked

_ALWAYS = (
    "script",
    "style",
    "template",
    "noscript",
    "iframe",
    "object",
    "embed",
    "svg",
    "canvas",
    "head",
    "link",
)
_CONTROLS = ("select", "textarea", "input", "datalist", "audio", "video", "map")
_SITE = ("nav", "aside", "dialog", "menu")
_SITE_ROLES = frozenset(
    (
        *("navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "toolbar"),
        *("dialog", "alertdialog", "tablist"),
    )
)
_SITE_NAMES = frozenset(
    (
        *("navbar", "sidebar", "sphinxsidebar", "breadcrumb", "breadcrumbs", "site-header", "site-footer"),
        *("site-nav", "page-footer", "global-nav", "skip-link", "skiplink", "skip-nav", "social-share"),
        *("share-buttons", "pagination", "navheader", "navfooter", "mw-jump-link", "mw-editsection"),
    )
)
_COOKIES = re.compile(
    r"(?:^|[\s_-])(?:cookie|consent|gdpr)s?[\s_-]?(?:banner|notice|bar|popup|modal|overlay|dialog|message|consent|law)",
    re.I,
)
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_SKIP = re.compile(r"skip to\b|jump to (?:content|navigation)", re.I)
_ANCHOR_SIGNS = frozenset(("¶", "#", "§", "🔗", ""))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def clean(document: Any, *, site: bool) -> None:
    """Remove what is not content; ``site`` is false where a page stands alone, as in a book."""
    body = document.find("body")
    body = document if body is None else body
    for element in list(document.iter(*_ALWAYS, *_CONTROLS)):
        _remove(element)
    for element in list(body.iter("button")):
        # Accordions put their headings on buttons.
        if any(parent.tag in _HEADINGS for parent in element.iterancestors()):
            element.drop_tag()
        else:
            _remove(element)
    for element in list(body.iter("*")):
        if element is not body and _hidden(element):
            _remove(element)
    for link in list(body.iter("a")):
        if _is_anchor_sign(link) or (
            (link.get("href") or "").startswith("#") and _SKIP.match(unmarked(link.text_content()).strip())
        ):
            _remove(link)
    if site:
        _remove_site(body)


def main_content(document: Any) -> Any:
    """The part that is the document: ``main`` or the one ``article`` if it has most of the text."""
    body = document.find("body")
    body = document if body is None else body
    total = _length(body)
    candidates = [*body.iter("main"), *body.xpath(".//*[@role='main']")]
    articles = list(body.iter("article"))
    if len(articles) == 1:
        candidates += articles
    for candidate in candidates:
        if _length(candidate) < 0.5 * total:
            continue
        # The title of the page often stands above its main part.
        if not _has_h1(candidate) and (titles := list(body.iter("h1"))):
            tail, titles[0].tail = titles[0].tail, None
            _put_tail_back(titles[0], tail)
            candidate.insert(0, titles[0])
            titles[0].tail, candidate.text = candidate.text, None
        return candidate
    return body


def _remove_site(body: Any) -> None:
    total = max(_length(body), 1)
    for element in list(body.iter("*")):
        if element is body or not _is_site(element):
            continue
        if any(element.iter("main", "article")):
            continue
        if element.tag not in ("nav", "header", "footer") and _length(element) > 0.6 * total:
            # More than half of the text is no side matter, whatever it calls itself.
            continue
        if element.tag == "header" and _has_h1(element) and len(list(body.iter("h1"))) == 1:
            # The only title there is: it stays, the rest of the header goes.
            title = next(element.iter("h1"))
            title.tail = None
            element.clear(keep_tail=True)
            element.tag = "div"
            element.append(title)
            continue
        _remove(element)


def _is_site(element: Any) -> bool:
    tag = element.tag
    if tag in _SITE or (element.get("role") or "").lower() in _SITE_ROLES:
        return True
    if tag in ("header", "footer"):
        # Those of an article belong to it.
        return not any(
            parent.tag in ("article", "main", "section", "blockquote") for parent in element.iterancestors()
        )
    if tag in ("main", "article", "section", *_HEADINGS):
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(names.strip()) and (
        not _SITE_NAMES.isdisjoint(names.lower().split()) or bool(_COOKIES.search(names))
    )


def _hidden(element: Any) -> bool:
    return (
        element.get("hidden") is not None
        or (element.get("aria-hidden") or "").lower() == "true"
        or bool(_HIDDEN.search(element.get("style") or ""))
    )


def _is_anchor_sign(link: Any) -> bool:
    """The ``¶`` beside headings that links to them."""
    return (
        (link.get("href") or "").startswith("#")
        and unmarked(link.text_content()).strip() in _ANCHOR_SIGNS
        and link.find(".//img") is None
        and any(parent.tag in _HEADINGS or parent.tag == "dt" for parent in link.iterancestors())
    )


def _remove(element: Any) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _put_tail_back(element: Any, tail: str | None) -> None:
    """Leave a moved element's following text where it was."""
    if not tail:
        return
    previous, parent = element.getprevious(), element.getparent()
    if previous is not None:
        previous.tail = (previous.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail


def _has_h1(element: Any) -> bool:
    return next(element.iter("h1"), None) is not None


def _length(element: Any) -> int:
    return sum(len(text.strip()) for text in element.itertext())

"""Estimate: what contexts would cost, counted on exactly the prompts that would be sent."""

from __future__ import annotations

from pinakes.config import IndexSettings
from pinakes.embedding import load_tokenizer
from pinakes.ingest.llm_context.plan import Question, plan_document
from pinakes.ingest.llm_context.prompt import context_settings
from pinakes.ingest.tokens import TokenIndex
from pinakes.llm.prices import Price, price_of
from pinakes.model.report import ContextEstimate
from pinakes.stores.embedded.contexts import ContextStore
from pinakes.stores.embedded.index import EmbeddedIndex

_ANY = Price(0, 0)


def estimate_contexts(index: EmbeddedIndex, settings: IndexSettings) -> ContextEstimate:
    """Count what the documents of an index would need. Asks nobody, sends nothing."""
    estimate = ContextEstimate(settings.context_model)
    if not settings.context_model:
        return estimate
    store, tokenizer = ContextStore(index.database), load_tokenizer(settings.embedding_model or None)
    price = price_of(settings.context_model)
    if price is not None:
        estimate.dollars = 0.0
    asked: set[bytes] = set()
    measure = TokenIndex("", tokenizer)
    for number in store.wanting(context_settings(settings)):
        plan = plan_document(index, store, number, settings, tokenizer)
        known = store.known(set(plan.wanted.values()))
        estimate.documents += 1
        estimate.chunks += len(plan.wanted)
        for group in plan.questions:
            new = [one for one in group if one.key not in known and one.key not in asked]
            asked.update(one.key for one in new)
            if new:
                _add(estimate, new, measure, price)
    return estimate


def _add(estimate: ContextEstimate, group: list[Question], measure: TokenIndex, price: Price | None) -> None:
    """Count one window: its first prompt writes the shared part to the cache, the others read it from there."""
    terms = price or _ANY
    prefix = len(measure.of(group[0].prompt.system)) + len(measure.of(group[0].prompt.shared))
    caches = prefix * terms.counting >= terms.cacheable and len(group) > 1
    for position, question in enumerate(group):
        size = prefix + len(measure.of(question.prompt.text))
        cached = prefix if caches and position else 0
        written = prefix if caches and not position else 0
        output = question.prompt.max_tokens
        estimate.calls += 1
        estimate.input_tokens += size
        estimate.cached_tokens += cached
        estimate.cache_write_tokens += written
        estimate.output_tokens += output
        if price is not None and estimate.dollars is not None:
            tokens = (round(part * price.counting) for part in (size, cached, written))
            size, cached, written = tokens
            estimate.dollars += price.cost(size, output, cached, written)

"""A small library of many kinds: acts in five scripts, notes with fields, code, a table, and two files of one name."""

from __future__ import annotations

from pathlib import Path

DOCUMENTS = {
    "act.md": """# Harbour Act

## CHAPTER 1 — Officers

### Section 10. Definitions

In this Act—

"vessel" means every description of craft used as a means of transport on water.

### Section 11. Harbour Masters

(a) The Authority shall appoint a Harbour Master for each harbour.

(b) A Harbour Master may give any direction that is reasonably necessary for safety.

## CHAPTER 2 — Emergencies

### Section 21. Duty to report occurrences

(a) The master of a vessel shall report a collision to the Harbour Master within one hour.

(b) A written account signed by the master follows within three working days, as section 11(b) requires.

### Section 22. Closure

The Harbour Master may close the harbour while a gale warning is in force under section 21. A fine of EUR 500 is due.
""",
    "regulation.md": """---
title: Data Regulation
author: Ada Ferrer
date: 2024-03-01
tags: [privacy, law]
---

# Data Regulation

## Article 5 Principles

1. Personal data shall be kept no longer than 30 days.

2. The controller shall be responsible for paragraph 1.

## Article 6 Lawfulness

1. Processing is lawful only if:

(a) the data subject has given consent;

(b) processing is necessary for the performance of a contract;

(f) processing is necessary for legitimate interests.

## Article 7 Consent

The controller must be able to demonstrate consent under Article 6(1)(a). See the Harbour Act, section 21.
""",
    "法.md": "# 数据法\n\n## 第九条 目的\n\n本法所称个人信息,是指以电子方式记录的各种信息。\n\n## 第十条 义务\n\n控制者应当在三十日内通知。参见第九条。\n",
    "قانون.md": "# قانون الميناء\n\n## المادة 3 التعريفات\n\nالسفينة هي كل مركب.\n\n## المادة 4 الواجبات\n\nيجب على الربان الإبلاغ خلال ساعة.\n",
    "ordnung.md": "---\nlanguage: de\n---\n\n# Hafenordnung\n\n## § 4 Meldung\n\n(1) Der Schiffsführer muss einen Unfall "
    "binnen zwei Stunden melden.\n\n(2) Näheres regelt § 5.\n\n## § 5 Gebühren\n\nDie Hafengebühr beträgt 20 Euro.\n",
    "notes/plan.md": "---\ntags: [runbook]\ndate: 2025-06-30\n---\n\n# Plan\n\nAsk the Harbour Master. Rule 4.10.1 is old.\n",
    "old/plan.md": "# Plan\n\nAn old plan for the harbour, and `get_user()` of tool.py.\n",
    "tool.py": '"""A pump."""\n\n\nclass Pump:\n    """Pumps."""\n\n    def start(self) -> int:\n        return get_user(1)\n',
    "table.csv": "vessel,berth\nAurora,12\nBoreas,14\n",
    "diary.txt": "The lamp was lit at dusk, and the keeper wrote of a vessel that passed in the gale.\n",
}


def write(folder: Path) -> None:
    """Write the documents below a folder."""
    for name, text in DOCUMENTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

"""The proofs of merge and memory can fail: with a mutant in the gateware they do not pass.

An induction that no longer closes says UNKNOWN, a run from reset that goes wrong FAIL. Two are
tried in every run, all with MINMIP_LONG.
"""

import pytest
from formal_combine import proofs as combine_proofs
from formal_combining_buffer import proofs as buffer_proofs
from formal_memory_port import proofs as memory_proofs
from kit.formal import run_proof
from kit.mutants import planted
from kit.vlib import LONG
from mutants.combine import MUTANTS as COMBINE
from mutants.combining_buffer import MUTANTS as BUFFER
from mutants.deep_proofs import MUTANTS as DEEP
from mutants.memory_port import MUTANTS as MEMORY
from mutants.streams import MUTANTS as STREAMS

PROOFS = {proof.title: proof for proof in [*buffer_proofs(), *memory_proofs(), *combine_proofs()]}
MUTANTS = {mutant.name: mutant for mutant in [*BUFFER, *MEMORY, *COMBINE, *DEEP, *STREAMS]}
QUICK = [
    ("combining_buffer-merge-counts", "drained_without_entries"),
    ("combining_buffer-merge-bytes", "victim_lost"),
]
BROKEN_BY = [
    *QUICK,
    ("combining_buffer-rows16", "look_up_skips"),
    ("combining_buffer-merge-rows", "stale_look_up"),
    ("combining_buffer-merge-entries", "conflict_ignored"),
    ("combining_buffer-merge-entries", "conflict_elsewhere"),
    ("combining_buffer-merge-entries", "dirty_forgotten"),
    ("combining_buffer-merge-counts", "drained_early"),
    ("combining_buffer-merge-bytes", "old_bytes_merge"),
    ("combining_buffer-merge-bytes", "mask_kept"),
    ("combining_buffer-merge-queue", "queue_output_overwritten"),
    ("combine-ranks", "order_turned"),
    ("combine-words", "five_words"),
    ("combine-words", "slots_of_the_lane"),
    ("combine-words", "slot_of_another_group"),
    ("combine-words", "mips_meet"),
    ("combine-words", "lane_leaves_twice"),
    ("combine-bytes", "rank_of_lane"),
    ("combine-bytes", "words_twice"),
    ("combine-merge", "rank_of_lane"),
    ("memory_port-bytes2", "no_forwarding_1"),
    ("memory_port-bytes2", "no_forwarding_2"),
    ("memory_port-bytes2", "no_forwarding_3"),
    ("memory_port-bytes2", "no_forwarding_4"),
    ("memory_port-bytes2", "read_beside_write"),
    ("memory_port-bytes2", "or_is_min"),
    ("memory_port-bytes2", "mask_ignored"),
    ("memory_port-bytes2", "host_loses"),
    ("memory_port-bytes2", "outside_written"),
    ("memory_port-bytes2", "high_bits_ignored"),
    ("memory_port-flow", "host_loses"),
    ("memory_port-flow", "idle_early"),
]


@pytest.mark.parametrize(("title", "name"), BROKEN_BY if LONG else QUICK)
def test_mutant_is_refused(title, name):
    with planted(MUTANTS[name]):
        outcome = run_proof(PROOFS[title])
    assert outcome.status in ("FAIL", "UNKNOWN"), outcome.log

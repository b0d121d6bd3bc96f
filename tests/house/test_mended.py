"""What hostile files, names and numbers did before they were mended, and the test of what each does now."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]

MENDED = {
    "218 KB of xz, 137 KB of zst: 13 GB, a MemoryError; 16 s and 7 s": "collection/test_files.py::"
    "test_bomb_under_three_gib_ends_in_a_message test_bomb_that_is_allowed_ends_in_a_message_too "
    "test_reading_stops_at_the_limit_and_not_before test_limit_holds_for_plain_files_that_take_no_disk",
    "/dev/zero: a MemoryError after 12 s; a FIFO: waited for without an end": "collection/test_files.py::"
    "test_what_is_no_file",
    "a million documents in one topic of one run: 45 s, 4.4 GB": "collection/test_rankings.py::"
    "test_one_long_topic_takes_the_memory_of_its_documents test_a_dense_array_that_is_too_large_is_refused",
    "--jobs 40 for eight folds: forty processes": "experiments/test_running.py::"
    "test_no_more_processes_than_tasks",
    "more jobs than cores: no word": "cli/test_experiments.py::test_more_jobs_than_cores_are_told",
    "a file name that is not UTF-8: UnicodeEncodeError; escapes: raw on the terminal; > /dev/full: a "
    "traceback": "cli/test_messages.py::test_name_of_a_file_that_is_not_utf_8 "
    "test_nothing_raw_reaches_a_terminal test_terminal_of_ascii test_full_device",
    "a read-only installation without a home: loops cannot be kept": "test_compiled.py::"
    "test_no_place_to_keep_them_is_said_once test_command_without_a_place_says_so_once",
    "a byte order mark or a no-break space inside a file: a new topic": "collection/test_lines.py::"
    "test_unseen_character_makes_no_new_topic_or_document test_line_of_unseen_characters_alone_is_too_short",
    "a column twice in a header: taken": "collection/test_readers.py::test_column_that_stands_twice",
    "two score columns, ragged tuples, half a surrogate pair: no clear error": "collection/test_frames.py::"
    "test_bad_object",
    "Normal(1e308,1e308): OverflowError": "cli/test_refusals.py::"
    "test_wrong_option_is_told_and_nothing_is_written",
    "two processes with other settings on one --output: no lock": "tables/test_files.py::"
    "test_folder_of_another_process",
    "a rewrite that failed: former results lost": "tables/test_files.py::"
    "test_rewrite_that_fails_leaves_what_was_there",
    "a forged settings.json: files of others removed": "report/test_files.py::"
    "test_forged_settings_remove_nothing test_settings_of_any_content_are_harmless",
    "a topic id of 5,000 digits: ValueError": "collection/test_build.py::"
    "test_topics_in_the_order_of_numbers_of_any_length",
    "draws=100000000: no word before memory ends": "collection/test_memory.py::"
    "test_draws_that_take_more_than_there_is",
    "--pool-depth beyond every run: all runs pooled": "pooling/test_discovery.py::"
    "test_depth_beyond_every_run_makes_no_run_pooled",
    "a run type with $: a traceback after all the work": "plots/test_style.py::test_a_name_is_no_formula",
    "a figure that fails: no tables": "cli/test_experiments.py::"
    "test_tables_are_written_before_a_figure_fails",
    "holes in what all judgments grade: no word": "comparisons/test_reversing.py::"
    "test_only_runs_that_all_judgments_cover_are_graded_where_the_rest_is_estimated",
    "a list of run types of any size: read": "cli/test_experiments.py::test_a_list_of_run_types_has_a_limit",
}


def test_what_was_mended_has_its_test() -> None:
    for what, tests in MENDED.items():
        file, _, names = tests.partition("::")
        tree = ast.parse((ROOT / file).read_text("utf-8"))
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert set(names.split()) <= there, what

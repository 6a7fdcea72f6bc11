"""Which test holds each of the field reports: what went wrong elsewhere, and how it is here.

Field reports are what people told of other tools and of the libraries below; each is one example
of a kind. A row is (what was seen, in our own words; the tests with the right behaviour and its
value). test_field_reports.py checks that each of these tests is there.
"""

MAPS = {
    "the fused backend hands back an empty tuple; the chart is blank": (
        "models/test_reported_maps.py::test_attentions_asked_of_a_fused_backend_change_nothing",
        "models/test_reported_maps.py::test_whatever_is_no_map_is_never_drawn_as_one",
        "models/test_reported_maps.py::test_fewer_maps_than_layers_are_not_taken_for_all",
        "models/test_given.py::test_the_check_that_failed_is_named",
    ),
    "a config that asks for attentions is refused under SDPA": (
        "models/test_reported_maps.py::test_a_config_that_asks_for_attentions_loads_and_captures",
        "models/test_interface.py::test_a_config_that_asks_for_attentions_is_left_alone",
    ),
    "asking for attentions loses the causal mask: weight on the future": (
        "models/test_interface.py::test_a_wrong_map_is_never_returned",
        "models/test_interface.py::test_a_run_that_changes_the_model_s_answer_is_noticed",
        "models/test_capture_exact.py::test_the_instrumented_run_equals_a_plain_one",
    ),
    "flash and eager give attention of different shapes": (
        "models/test_reported_maps.py::test_a_flash_backend_is_left_where_it_was",
    ),
    "fused kernels never make the weights that are wanted": (
        "models/test_reported_maps.py::test_one_head_of_2048_tokens_is_eager_s_and_its_error_is_told",
    ),
    "a hybrid returns fewer maps than layers: layer 0 is really layer 3": (
        "models/test_reported_maps.py::test_a_hybrid_s_fourth_layer_is_layer_3",
        "models/test_families.py::test_layers_keep_their_true_numbers_beside_other_mixers",
        "models/mixers/test_mixers.py::test_every_layer_is_listed_by_its_true_number",
    ),
    "negative implicit scores are normalised into probabilities": (
        "browser/test_own_models.py::test_a_folder_is_loaded_and_its_linear_layers_are_signed_maps",
        "pages/test_variants.py::test_an_effective_map_is_told_to_be_none_of_a_probability",
    ),
    "a model's own code ignores output_attentions": (
        "models/test_own_code.py::test_code_that_exposes_nothing_says_so",
        "models/test_own_code.py::test_code_that_returns_nothing_is_read_where_it_happens",
    ),
    "a decoder with cross-attention returns self-attention alone": (
        "models/test_groups.py::test_a_decoder_that_looks_across_shows_both",
    ),
    "Longformer's band is drawn as if its columns were tokens": (
        "models/test_own_code.py::test_longformer_s_bands_and_global_tokens",
    ),
    "a hook inside a block with a fused call never fires": (
        "models/test_reported_maps.py::test_a_fused_call_inside_a_block_is_heard",
    ),
    "rollout scales columns and forgets the residual": (
        "metrics/test_rollout.py::test_rows_sum_to_one_on_asymmetric_maps",
        "metrics/test_rollout.py::test_every_path_is_counted",
    ),
    "the sink's column is dropped: rows sum to less than 1": (
        "models/test_families.py::test_sinks_take_what_the_keys_do_not",
        "figures/test_sinks.py::test_the_column_is_what_transformers_drops",
    ),
    "debug tensors of a backend are shown as attention": (
        "models/test_reported_maps.py::test_whatever_is_no_map_is_never_drawn_as_one",
        "models/test_own_code.py::test_scores_are_not_taken_for_weights",
    ),
    "bfloat16 cannot become numpy; its rows sum to 0.998": (
        "models/test_reported_maps.py::test_half_precision_is_widened_before_it_is_drawn",
        "models/test_given.py::test_half_precision_is_believed_within_its_rounding",
    ),
}

PADDING = {
    "a query without a visible key becomes NaN and spreads": (
        "variants/test_run.py::test_a_query_without_keys",
        "variants/test_every_variant.py::test_a_row_without_keys_is_a_named_error",
        "pages/test_masks.py::test_a_query_without_a_key_is_drawn_and_explained",
    ),
    "left padding gives NaN rows through a hook": (
        "models/test_field_reports.py::test_a_tokenizer_that_pads_to_512_adds_nothing_to_the_maps",
        "models/test_groups.py::test_pads_are_trimmed_and_one_example_is_shown",
    ),
    "a pad mask on the wrong axis hides queries": (
        "models/test_field_reports.py::test_pads_are_keys_that_nobody_sees_not_queries_that_see_nothing",
        "masks/test_families.py::test_padding_is_transformers_padding_mask",
    ),
    "two sentences at once: 2 positions, 4 tokens": (
        "models/test_groups.py::test_pads_are_trimmed_and_one_example_is_shown",
        "models/test_given.py::test_the_check_that_failed_is_named",
    ),
    "8 tokens padded to 512 crawl": (
        "models/test_field_reports.py::test_a_tokenizer_that_pads_to_512_adds_nothing_to_the_maps",
    ),
    "a window fixed at 5": ("models/test_field_reports.py::test_the_window_is_the_configs_own",),
    "a mask page breaks with the library's private functions": (
        "models/test_field_reports.py::test_masks_use_no_mask_code_of_the_library",
        "pages/test_masks.py::test_offers_every_family_there_is",
    ),
    "the mask or the bias, not both": (
        "models/test_field_reports.py::test_a_bias_and_a_window_are_both_there_and_told_apart",
        "browser/test_explorer.py::test_masked_and_undefined_cells_have_patterns_of_their_own",
    ),
    "half of BERT's map is greyed": (
        "models/test_field_reports.py::test_an_encoder_s_map_has_no_triangle",
    ),
}

SHAPES = {
    "generate() and forward() give different shapes": (
        "models/test_given.py::test_a_generation_is_one_forward_pass",
        "decoding/test_generation.py::test_same_tokens_logits_and_map",
        "models/test_continuing.py::test_the_rows_are_those_of_the_steps",
    ),
    "one token more than rows": (
        "models/test_given.py::test_a_generation_is_one_forward_pass",
        "models/test_given.py::test_as_many_tokens_as_rows",
        "components/test_payload.py::test_a_figure_that_contradicts_itself_is_refused",
    ),
    "steps of layers are no tuple of tensors": (
        "models/test_given.py::test_a_forward_pass",
        "models/test_given.py::test_a_generation_is_one_forward_pass",
    ),
    "sliding layers are narrower than full ones": (
        "models/test_given.py::test_a_generation_is_one_forward_pass",
        "decoding/test_generation.py::test_same_tokens_logits_and_map",
    ),
    "a source longer than the window breaks cross-attention": (
        "models/test_groups.py::test_a_long_source_is_wholly_in_reach_of_sliding_decoders",
    ),
    "the encoder's map where a translation was wanted": (
        "models/test_groups.py::test_three_groups_with_their_own_axes",
        "models/test_groups.py::test_a_target_that_is_not_given_is_written_by_the_model",
        "figures/test_capture.py::test_cross_attention_says_who_asks_whom",
        "browser/test_inspect_kinds.py::test_cross_attention_is_a_stack_with_the_source_across",
    ),
    "key-value heads taken for query heads": (
        "models/test_field_reports.py::test_eight_query_heads_on_two_of_keys",
        "browser/test_heads.py::test_a_head_chosen_in_the_grid_is_told_by_its_key_value_head",
    ),
    "heads that do not divide fail in a reshape": (
        "variants/test_every_variant.py::test_heads_that_groups_do_not_divide_are_a_named_error",
        "pages/test_kv_cache.py::test_groups_that_do_not_divide_lose_nothing",
    ),
    "hidden states or a vector given for attention": (
        "models/test_given.py::test_the_check_that_failed_is_named",
    ),
    "an empty choice of heads or layers is an exception": (
        "components/test_selection.py::test_without_any_selection_nothing_is_selected",
        "models/test_given.py::test_the_check_that_failed_is_named",
    ),
}

TOKENS = {
    "repeated tokens share a row and a column": (
        "models/test_field_reports.py::test_repeated_words_keep_their_rows_and_columns",
        "browser/test_explorer.py::test_tokens_are_text_and_repeated_ones_stay_apart",
        "figures/test_steps.py::test_repeated_tokens_keep_their_places",
    ),
    "<s> is invisible, <b>x</b> is bold, &lt; is <": (
        "browser/test_hostile.py::test_in_the_matrix_and_its_readout",
        "browser/test_explorer_files.py::test_files_hold_the_figure",
        "browser/test_field_reports.py::test_numbers_and_special_tokens_are_names_in_a_chart_and_its_tooltip",
        "models/test_field_reports.py::test_no_chart_library_reads_tokens_as_html",
    ),
    "numbers become an axis of numbers": (
        "models/test_field_reports.py::test_charts_take_tokens_for_names_and_stay_below_altair_s_limit",
        "browser/test_field_reports.py::test_numbers_and_special_tokens_are_names_in_a_chart_and_its_tooltip",
    ),
    "token text becomes elements, scripts and attributes": (
        "browser/test_inspect_model.py::test_typed_markup_is_shown_and_makes_no_element",
        "browser/test_views.py::test_hostile_tokens_are_themselves_and_make_nothing",
        "browser/test_sealed.py::test_hostile_tokens_run_nothing",
        "browser/test_field_reports.py::test_what_is_typed_is_echoed_as_it_is",
        "test_layers.py::test_no_door_for_typed_html",
    ),
    "parts of an emoji are replacement characters": (
        "models/test_tokens.py::test_parts_of_a_character_show_it_with_their_share",
        "models/test_tokens.py::test_nothing_is_empty_or_hidden",
        "models/test_tokens.py::test_any_text_is_shown",
    ),
    "several tokens share one offset": (
        "models/test_tokens.py::test_parts_of_a_character_show_it_with_their_share",
        "models/test_tokens.py::test_an_unknown_token_tells_what_was_typed",
        "models/test_grouped.py::test_a_words_row_is_the_mean_over_its_queries_of_the_sum_over_keys",
    ),
    "right-to-left text, newlines and special tokens are lost": (
        "models/test_tokens.py::test_spaces_newlines_and_tabs_are_visible",
        "models/test_tokens.py::test_invisible_characters_are_named",
        "browser/test_hostile.py::test_in_the_matrix_and_its_readout",
    ),
    "some sentences draw nothing at all": (
        "pages/test_inspect_model.py::test_text_that_cannot_be_run_is_refused_in_words_and_kept",
        "browser/test_table.py::test_a_refusal_is_said_over_the_map",
    ),
    "characters where words are wanted": (
        "models/test_grouped.py::test_a_words_row_is_the_mean_over_its_queries_of_the_sum_over_keys",
        "models/test_words.py::test_words_of_byte_level_tokens",
    ),
    "parts of words are not marked; an unknown tokenizer is a KeyError": (
        "models/test_tokens.py::test_pieces_of_words_keep_their_sign",
        "models/test_tokens.py::test_an_unknown_spelling_is_read_from_the_text",
        "models/test_tokens.py::test_an_unknown_spelling_without_a_text",
    ),
    "hiding special tokens shifts rows": (
        "models/test_grouped.py::test_hidden_special_tokens_move_no_other_cell",
        "models/test_grouped.py::test_cross_maps_have_words_on_both_sides_and_never_shift",
        "browser/test_explorer.py::test_hiding_states_what_it_does",
        "browser/test_explorer_files.py::test_npz_holds_what_is_in_sight",
    ),
    "the start and end tokens' own rows cannot be seen": (
        "browser/test_explorer.py::test_tokens_are_text_and_repeated_ones_stay_apart",
        "models/test_tokens.py::test_a_token_of_the_vocabulary_s_own_markup_is_visible",
    ),
    "typed $, _ and : are read as markdown": (
        "browser/test_field_reports.py::test_what_is_typed_is_echoed_as_it_is",
        "browser/test_masks.py::test_typed_html_creates_no_element",
    ),
}

SCALE = {
    "512 tokens never render": (
        "browser/test_inspect_model.py::test_512_tokens_are_on_screen_in_one_and_a_half_seconds_with_few_labels",
    ),
    "a label a token takes seconds": (
        "browser/test_explorer.py::test_a_long_axis_is_thinned_and_reads_exactly",
    ),
    "all maps are kept until memory ends": (
        "models/test_memory.py::test_2048_tokens_add_at_most_0_4_gib",
        "models/test_memory.py::test_the_estimate_grows_with_the_text",
        "models/test_input_errors.py::test_more_memory_than_there_is",
    ),
    "a message beyond the socket's limit": (
        "figures/test_parts.py::test_the_first_picture_is_small_at_any_length",
        "browser/test_field_reports.py::test_every_message_is_weighed",
        "browser/test_axe.py::test_no_page_shuts_anybody_out",
    ),
    "more rows than a chart takes": (
        "models/test_field_reports.py::test_charts_take_tokens_for_names_and_stay_below_altair_s_limit",
    ),
    "the console is flooded at the start": (
        "browser/test_offline.py::test_a_typed_sentence_is_inspected_without_a_network",
    ),
    "a model is loaded at each click, and never leaves": (
        "models/test_store.py::test_switching_back_and_forth_loads_each_once",
        "models/test_memory.py::test_switching_models_twenty_times_gives_their_memory_back",
    ),
    "one visitor's switch reaches another's run": (
        "models/test_interface.py::test_a_run_leaves_no_trace",
        "models/test_interface.py::test_ten_threads_with_backends_and_stopped_runs_among_them",
    ),
    "without a network the page is blank": (
        "browser/test_offline.py::test_a_typed_sentence_is_inspected_without_a_network",
        "browser/test_offline.py::test_the_guard_itself_sees_an_attempt",
    ),
    "no figure and no numbers can be taken away": (
        "browser/test_exports.py::test_lines_text_row_and_the_whole_comparison",
        "browser/test_explorer_files.py::test_the_app_makes_a_file_that_works_without_it",
        "figures/test_capture.py::test_npz_and_csv_give_the_exact_map_back",
        "figures/test_numbers.py::test_a_cross_map_s_files_name_the_source_along_the_keys",
        "kv_cache/test_tables.py::test_json_holds_the_settings_and_exact_integers",
    ),
    "everything attends to the first token: is it broken?": (
        "browser/test_explorer.py::test_weight_on_the_first_token_is_explained_where_it_is_seen",
    ),
}

CACHE = {
    "a factor of heads too many": (
        "kv_cache/test_headlines.py::test_llama_3_8b_takes_a_gibibyte_at_8192_tokens",
        "kv_cache/test_headlines.py::test_bytes_per_token",
    ),
    "sliding layers are charged the whole context": (
        "kv_cache/test_headlines.py::test_totals_named_in_reports",
        "figures/test_kv_cache.py::test_a_curve_bends_where_the_window_is_full",
    ),
    "bytes of one token taken for a rate": (
        "kv_cache/test_headlines.py::test_gpt_oss_is_not_linear",
        "kv_cache/test_capacity.py::test_not_linear_a_window_that_fills_up",
        "kv_cache/test_allocation.py::test_what_was_measured_elsewhere_is_predicted",
    ),
}

ROWS = MAPS | PADDING | SHAPES | TOKENS | SCALE | CACHE

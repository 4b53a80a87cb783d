"""Where everything on the scope's screen stands, by the width and the height of the terminal."""

ARRANGEMENT = """
ScopeView {
    layout: vertical;
    & #stage { height: 1fr; }
    & TokensView { layout: vertical; }
    & .details, & PagedTable, & .inspector { display: none; }
    & .details { width: 1fr; height: auto; }
    &.-tokens .details, &.-inspects .details { display: block; }
    &.-tokens .details { height: 1fr; }
    &.-tokens PagedTable { display: block; width: 1fr; height: 1fr; }
    &.-tokens.-narrow Conversation, &.-tokens.-slim Conversation { display: none; }
    &.-inspects .inspector { display: block; height: 8; }
    &.-inspects.-short .inspector { height: 4; }
    &.-inspects.-short Plot, &.-inspects.-tall Plot { display: none; }
    &.-wide TokensView { layout: horizontal; }
    &.-wide .details { width: 74; height: 1fr; border-left: solid $foreground 20%; }
    &.-wide.-inspects .inspector { height: 1fr; }
    &.-wide.-inspects.-tokens .inspector { height: 17; }
    &.-wide.-inspects Plot { display: block; }
    & #strip, & PhaseLine, & Counters, & Plot { background: $surface; }
    & #strip { height: 1; }
    & #legend { width: 1fr; padding: 0 0 0 1; color: $text-muted; }
    & #prompt-line { height: auto; padding: 1 1 0 1; }
    &.-short #prompt-line { padding: 0 1; }
    & #prompt-sign { width: 2; }
}
"""

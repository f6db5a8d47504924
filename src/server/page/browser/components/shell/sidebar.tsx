import { usePage } from "../../state/page.js";
import { hashOf } from "../../state/route.js";
import { Icon } from "../icon.js";
import { ConversationList } from "./conversation-list.js";
import { Settings } from "./settings.js";

export interface SidebarProps {
  /** Called when the reader goes elsewhere, so that a drawer closes. */
  readonly onNavigate?: () => void;
}

/** The name of the collection, the way to its documents, and the conversations. */
export function Sidebar({ onNavigate }: SidebarProps) {
  const { overlay, preferences, router, status } = usePage();
  const words = preferences.words.value;
  const { view } = router.route.value;
  return (
    <nav
      class="sidebar"
      aria-label={words.conversations}
      onClick={({ target }) => {
        if ((target as Element).closest("a")) onNavigate?.();
      }}
    >
      <div class="collection">{status.value?.title}</div>
      <a class="entry strong" href={hashOf({ view: "chat" })}>
        <Icon name="plus" />
        {words.newConversation}
      </a>
      <a
        class="entry"
        href={hashOf({ view: "documents" })}
        {...(view === "documents" && { "aria-current": "page" as const })}
      >
        <Icon name="file" />
        {words.documents}
        <span class="count">{status.value?.documents}</span>
      </a>
      <button type="button" class="entry" onClick={() => (overlay.value = "palette")}>
        <Icon name="search" />
        {words.find}
        <kbd class="hint">{words.findKeys}</kbd>
      </button>
      <h2>{words.conversations}</h2>
      <ConversationList />
      <Settings />
    </nav>
  );
}

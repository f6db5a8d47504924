import { useSignal } from "@preact/signals";
import { usePage } from "../../state/page.js";
import { groupConversations } from "../../text/conversation-groups.js";
import { ConversationRow } from "./conversation-row.js";

/** From this many conversations on, a field finds them by their titles. */
const searchableFrom = 8;

/** The conversations by day, pinned ones first. */
export function ConversationList() {
  const { chat, conversations, pins, preferences, router } = usePage();
  const words = preferences.words.value;
  const search = useSignal("");
  const all = conversations.list.value;
  if (all.length === 0) return <p class="quiet">{words.noConversations}</p>;
  const wanted = search.value.trim().toLowerCase();
  const found = wanted === "" ? all : all.filter(({ title }) => title.toLowerCase().includes(wanted));
  const { view } = router.route.value;
  return (
    <>
      {all.length >= searchableFrom && (
        <input
          type="search"
          class="conversation-search"
          aria-label={words.searchConversations}
          placeholder={words.searchConversations}
          value={search}
          onInput={({ currentTarget }) => (search.value = currentTarget.value)}
        />
      )}
      <div class="conversations" role="group" aria-label={words.conversations}>
        {found.length === 0 && <p class="quiet">{words.noConversationFound}</p>}
        {groupConversations(found, pins.pinned.value, new Date()).map((group) => (
          <section key={group.age} aria-label={words.ages[group.age]}>
            <h3>{words.ages[group.age]}</h3>
            <ul>
              {group.conversations.map((each) => (
                <ConversationRow
                  key={each.id}
                  conversation={each}
                  isOpen={view === "chat" && chat.id.value === each.id}
                />
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  );
}

import { useRef } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { Icon } from "../icon.js";
import { Composer } from "./composer.js";
import { EmptyState } from "./empty-state.js";
import { ExchangeView } from "./exchange-view.js";
import { ExportConversation } from "./export-conversation.js";
import { NoModel } from "./no-model.js";
import { useFollowedScroll } from "./use-followed-scroll.js";

/** The open conversation above the field for the next question. */
export function ChatView() {
  const { chat, preferences } = usePage();
  const words = preferences.words.value;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const scroll = useFollowedScroll(scroller, content);
  const exchanges = chat.exchanges.value;
  return (
    <div class="chat">
      <NoModel />
      <div class="scroller" ref={scroller}>
        <div class="column" ref={content}>
          {chat.state.value === "loading" && <p class="quiet centred">{words.loading}</p>}
          {chat.state.value === "missing" && <p class="quiet centred">{words.conversationMissing}</p>}
          {chat.state.value === "failed" && (
            <p class="quiet centred">
              {words.failures.offline}{" "}
              <button type="button" class="plain" onClick={() => void chat.open(chat.id.value!)}>
                {words.tryAgain}
              </button>
            </p>
          )}
          {chat.state.value === "ready" && exchanges.length === 0 && <EmptyState />}
          {exchanges.map((currentExchange) => (
            <ExchangeView
              key={currentExchange.key}
              exchange={currentExchange}
              isLast={currentExchange === chat.last.value}
            />
          ))}
          {chat.state.value === "ready" && <ExportConversation />}
        </div>
      </div>
      {!scroll.isAtEnd.value && exchanges.length > 0 && (
        <button
          type="button"
          class="to-latest"
          onClick={scroll.toEnd}
          aria-label={words.toLatest}
          title={words.toLatest}
        >
          <Icon name="down" />
        </button>
      )}
      {chat.connection.value === "lost" && (
        <p class="connection" role="status">
          {words.connectionLost}
        </p>
      )}
      <Composer onAsk={scroll.toEnd} />
    </div>
  );
}

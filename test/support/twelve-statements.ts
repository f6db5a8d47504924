import { embeddingReply } from "./embedding-service.js";
import { streamed, transportFor } from "./transport-for.js";

/** Twelve statements on one document in each language, all quoted, one of them in words that the document does not hold. */
export const twelveStatements = {
  english: {
    uri: "pump.md",
    question: "How is the pump kept?",
    facts: [
      "The pump runs at 40 bar",
      "The pump weighs 12 kilograms",
      "The filter is cleaned weekly",
      "The oil is changed every spring",
      "The valve opens to the left",
      "The hose is 9 metres long",
      "The motor draws 6 amperes",
      "The gauge is read at noon",
      "The key hangs behind the door",
      "The tank holds 300 litres",
      "The alarm sounds at 55 bar",
      "The log is kept in the office",
    ],
    falsehood: "The paint was mixed by a monk in Ghent",
  },
  chinese: {
    uri: "水泵.md",
    question: "水泵如何保养？",
    facts: [
      "水泵在四十巴的压力下运行",
      "水泵的重量为十二公斤",
      "过滤器每周清洗一次",
      "机油在每年春季更换",
      "阀门向左侧打开",
      "软管的长度为九米",
      "电机的电流为六安培",
      "压力表在中午读取",
      "钥匙挂在大门后面",
      "水箱的容量为三百升",
      "报警器在五十五巴时鸣响",
      "日志保存在办公室里",
    ],
    falsehood: "油漆由根特的一位修士调制",
  },
} as const;

/** A knowledge base's connection to a chat model on a local HTTP server, which puts the false statement seventh. */
export async function connectedTo({ facts, falsehood }: (typeof twelveStatements)["english" | "chinese"]) {
  const stop = /\p{Script=Han}/u.test(falsehood) ? "。" : ".";
  const said = facts.map((fact, index) => (index === 6 ? falsehood : fact));
  const reply = said.map((statement) => `- ${statement} [1: "${statement}"]${stop}`).join("\n");
  const { transport, upstream } = await transportFor((request) =>
    request.path.endsWith("/embeddings") ? embeddingReply(request) : streamed(reply),
  );
  const models = { embedding: "test/embed-m3", chat: "test/chat" };
  return { transport, upstream, models, text: facts.map((fact) => `${fact}${stop}`).join("\n\n") };
}

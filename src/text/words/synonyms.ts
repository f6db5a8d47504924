import { terms } from "./terms.js";

/** Words that technical texts use for one another, a group a line part; an underscore joins the words of a phrase. */
const english =
  "delete remove erase discard purge clear throw_away get_rid;fetch get retrieve obtain read pull;" +
  "cap limit maximum bound ceiling threshold restrict quota;disable deactivate suppress turn_off switch_off turned_off switched_off turns_off switches_off opt_out;" +
  "enable activate turn_on switch_on turned_on switched_on turns_on opt_in;add append attach insert include;create make build generate produce;" +
  "change modify update alter edit adjust tweak;replace swap substitute exchange;send transmit emit export publish deliver push ship forward;" +
  "receive accept ingest;start launch begin run boot startup spin_up bring_up;stop end terminate quit halt shutdown shut_down;" +
  "restart reboot reload;install deploy set_up roll_out;upgrade update migrate;configure setup set_up customize specify define setting;" +
  "option parameter property setting configuration flag argument switch field;error failure exception fault problem issue bug trouble;" +
  "fail break crash malfunction go_wrong goes_wrong went_wrong;fix repair solve resolve workaround remedy mitigate troubleshoot;" +
  "check verify validate test examine inspect confirm ensure make_sure;show display view visualize print list present render see;" +
  "hide mask redact conceal obfuscate sanitize scrub;credential password token secret key;private sensitive confidential personal pii;" +
  "logged authenticated signed_in;login authenticate sign_in log_in;log record journal;program application app software;" +
  "machine host server computer node box;folder directory;operating_system os platform;command cli;library package module dependency kit;" +
  "version release;old legacy previous earlier older deprecated obsolete outdated;new latest recent current;" +
  "fast quick rapid performance speed efficient;slow delay latency lag;duration elapsed how_long;delay wait timeout pause block;" +
  "hang freeze stuck block deadlock;often frequency interval periodic how_often;size large big volume payload;small tiny minimal little;" +
  "many multiple several numerous;part fraction portion percentage ratio share subset;filter exclude skip ignore omit leave_out left_out drop;" +
  "choose select pick decide;use utilize employ apply;need require necessary must prerequisite mandatory;allow permit let support possible;" +
  "forbid prohibit deny reject prevent block refuse;automatic auto automatically by_itself on_its_own;manual manually by_hand;" +
  "default standard preset built-in out_of_the_box;same identical equal shared common;different distinct separate;" +
  "connect link join attach connection;destination target endpoint backend sink;source origin;vendor supplier provider;lock-in tied;" +
  "directly straight;intermediary proxy gateway middle;balance distribute spread balancer;kubernetes k8s cluster;container docker pod image;" +
  "environment env;recompile rebuild compile build;precedence override priority win wins;conflict clash collision;" +
  "experimental unstable alpha beta preview prerelease unreleased;stable mature ga;production live;development dev;trial try demo evaluate;" +
  "suitable fit ideal appropriate;recommend advise suggest should best_practice;goal aim purpose objective intent;" +
  "advantage benefit upside strength;disadvantage drawback downside weakness limitation;cost price expensive charge money fee bill;" +
  "cpu processor;memory ram heap;store persist save storage keep retain;certificate cert tls ssl;mutual mtls;encrypt secure protect;" +
  "vulnerability hole exploit weakness;report disclose notify submit;official approved certified endorsed certify;contribute participate;" +
  "translate localize localization translation;website site;browser frontend;visitor customer user;developer programmer engineer maintainer;" +
  "author write;answer respond response reply;empty blank null none unset;missing absent lack without;find locate discover detect;" +
  "identify recognize distinguish tell_apart;name title identifier id label;type kind sort category class;group bundle batch;" +
  "collect gather scrape capture;measure measurement metric statistic figure stats;count number amount quantity;observe monitor watch observability;" +
  "attribute tag label metadata;synthetic artificial fake simulated mock;simulate mimic imitate;shop store;guide tutorial documentation docs;" +
  "step instruction procedure;repeat rewrite duplicate twice again;guarantee promise ensure commitment;c# csharp .net dotnet;golang go;" +
  "node nodejs javascript js;erlang beam;increase raise grow higher;decrease reduce lower shrink;overload overwhelm saturate;lose lost loss;" +
  "retry resend try_again;order sequence;before prior first;correlate associate relate;propagate pass carry;inject supply pass hand_over;" +
  "provide supply offer give;alert notify warn notification;unexpected sudden surprise;schedule cron timer;permission privilege authorization access;" +
  "anonymous anonymize;hash digest;text string;standard specification convention;loopback localhost;port listener;dns name_server;" +
  "aggregate combine merge sum;parallel concurrent simultaneous;queue buffer;format layout schema;descriptor handle;mac macos darwin;windows win32";

const chinese =
  "删除 移除 去掉 清除;关闭 禁用 停用 关掉;打开 启用 开启 激活 生效;设置 配置 设定;修改 更改 改变 编辑 调整;添加 增加 加上 新增;" +
  "发送 导出 传输 上报;接收 收到 获取;安装 部署;程序 应用 软件;监测 监控 观测;代码 源码;记录 日志;字段 属性;费用 成本 价格;隐私 敏感;" +
  "分辨 判断 识别 辨别;错误 报错 异常 失败 故障;保留 留下 存储 保存;例子 示例 样例;默认 缺省;优点 优势 好处;缺点 劣势 不足;" +
  "查看 显示 展示;检查 验证 校验;升级 更新;启动 运行;停止 终止;选择 挑选;限制 上限;必须 需要 要求;支持 允许;忽略 跳过 排除;" +
  "原因 理由;目的 目标 用途;方法 方式 办法;类型 种类;名称 名字;版本 发行版;机器 主机 服务器;文件夹 目录;参数 选项;返回 回应 响应;" +
  "收集 采集;追踪 跟踪 链路;插桩 埋点;兼容 适配;贡献 参与;翻译 本地化;命令 指令;区别 不同 差异;自动 自行";

type Sequence = readonly string[];

/** Single terms of each group; they stand for one another. */
let groups: readonly ReadonlySet<string>[] | undefined;
/** Words and phrases that match a group, as terms, by their first term. */
const calls = new Map<string, { readonly sequence: Sequence; readonly group: number }[]>();

function readGroups(): readonly ReadonlySet<string>[] {
  return `${english};${chinese}`.split(";").map((line, group) => {
    const sequences = line.split(" ").map((entry) => terms(entry.replaceAll("_", " ")));
    for (const sequence of sequences) {
      const [first] = sequence;
      if (first !== undefined) calls.set(first, [...(calls.get(first) ?? []), { sequence, group }]);
    }
    return new Set(sequences.flatMap((sequence) => (sequence.length === 1 ? sequence : [])));
  });
}

/**
 * Other terms for those of a text, by what technical texts use for one another: `disable` and `turn off` for `deactivate`. The
 * key is the term itself, or the first of a phrase. Terms are those of `terms`.
 */
export function synonymsIn(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  groups ??= readGroups();
  const found = terms(text);
  const others = new Map<string, Set<string>>();
  for (const [at, term] of found.entries()) {
    for (const { sequence, group } of calls.get(term) ?? []) {
      if (sequence.some((one, index) => found[at + index] !== one)) continue;
      const known = others.get(term) ?? new Set<string>();
      for (const other of groups[group]!) if (!found.includes(other)) known.add(other);
      others.set(term, known);
    }
  }
  return others;
}

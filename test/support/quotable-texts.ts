/** Texts to be quoted, written for tests: law, medicine, manuals, code, tables, lists and policies. */
export interface QuotableText {
  readonly language: "en" | "zh" | "de" | "fr" | "es" | "el" | "ja" | "tr";
  readonly text: string;
}

const english = [
  `# Annual leave

Every employee gets 27 days of leave in a year, and part-time staff get leave in proportion to their hours. Leave that is not taken by 31 March is lost, unless the manager agrees otherwise in writing. Nobody may sell more than five days.

## Sick leave

The first three days are paid in full — the rest is paid at 80 % of the usual wage. A doctor’s note isn't required before day 4. The company never pays for leave that was not reported within 24 hours.`,
  `## Dosage

Adults take 20 mg twice daily; children under 12 must not take more than 5 mg per dose. The tablet should be swallowed whole, without water if necessary. Do not exceed one hundred and twenty milligrams in a day.

Keep the bottle at −5 °C to 8 °C. Patients with a history of liver disease should ask a doctor first. The drug was refused a licence for use in infants, and it failed to reduce pain in 2 of 3 trials.`,
  `# Retention policy

The operator deletes logs after 90 days. Backups are kept for two and a half years, except where a court orders otherwise. The “cold” archive isn’t encrypted — it never held personal data.

- Free plan: up to 500 MB of storage
- Pro plan: up to 50 GB of storage
- Team plan: no limit

Customers outside the EU are billed in US dollars, and the IT department sends invoices by e-mail.`,
  `## Cleaning the cache

Run \`rm -rf build/\` first, then start the tool with \`--force\`. The guard in the code reads:

\`\`\`js
if (count !== 0 && !force) {
  retries += 1;
  wait(1e-3 * 2 ** retries);
}
\`\`\`

The default time-out is 1,500 ms. It is ignored when \`max_tokens\` exceeds 4096. Version 2.1.0-beta does not read \`.env\` files, and \`*args\` are passed on unchanged.`,
  `# Warranty

The seller shall repair the device free of charge within 24 months, provided that the seal is intact. This warranty doesn't cover damage caused by water, fire or misuse. The buyer cannot transfer the warranty to a third party without the seller's consent.

The seller denies any liability for lost data. Claims rejected by the insurer are not covered here. A refund of $1,250.50 is the most that we pay.`,
  `## Power

The sensor draws 15 mW when idle and 2.4 W under load. The transmitter must stay below 100 mW, and its antenna gain is at least −3 dB. At 40 km/h the error is ±0.5 %. Use a 12 V supply; a 24 V supply destroys the board.

| Model | Power | Range |
| --- | --- | --- |
| A10 | 5 mW | 20 m |
| A20 | 50 mW | 200 m |
| B10 | 500 mW | 2 km |`,
  `# Tenancy

The tenant pays a rent of 850 euros by the third day of each month. The landlord may enter the flat only after notice of at least 48 hours. Pets are prohibited unless both parties agree. Subletting for more than ten nights is forbidden.

Rent was ~~900~~ 850 euros from January on. The deposit of ~~two months~~ three months is returned when the keys are handed over. Smoking is allowed on the balcony in the courtyard but not inside.`,
  `## Grading

Students who scored between 85 and 92 points received an A- or a B+. Fewer than 10 students failed the course. The committee hardly ever accepts late papers. The appeal in the annex, which the dean wrote, is open to the public. Is a second attempt possible? Yes, within 1 1/2 years.`,
  `# Evidence

In the trial 17 of 240 patients died, none of them in the treated group. The authors claim that the effect is not significant (p > 0.05). Most experts agree that the method is safe for adults but unsafe for infants. No side effects were seen below 10⁻³ mol/L.`,
  `## Access

Administrators may revoke keys at any time. Guests can read pages, cannot write them, and are never shown drafts. Non-members pay twice the fee of members. All requests over 10 MB/s are blocked; requests from the office network aren't.`,
];

const chinese = [
  `# 年假

每位员工每年享有27天带薪年假，满十二年后增加五天。未在3月31日前使用的年假不予保留，经理书面同意的除外。任何人不得出售超过五天的年假。

员工患病的，前三天工资照发，其余按百分之八十支付。未成年人不得从事夜间工作。公司拒绝支付未经批准的加班费。`,
  `## 用药说明

成人每次20毫克，每日两次；儿童每次不超过5毫克。本品须存放于零下五度至八度之间。孕妇禁止使用本品。肝病患者应当先咨询医生，不可以自行加量。

临床试验中，二百四十名患者有十七名出现不良反应，治疗组没有人死亡。`,
  `## 保密条款

乙方不得向第三方披露本合同内容，但法律另有规定的除外。甲方可以在十五日内提出书面异议。违约方应当支付合同总额百分之十五的违约金。双方均无权单方面解除合同。

本条款自2024年1月1日起生效，有效期为三年半。~~保证金为五万元。~~保证金为十万元。`,
  `# 退款规则

会员在购买后7天内可以申请退款，虚拟商品不支持退款。退款金额不超过实付金额的三分之二。超过一个月未处理的申请自动失效。非会员不能参加抽奖。

- 普通会员：每月5GB流量
- 高级会员：每月50GB流量
- 企业会员：不限流量`,
  `## 出入管理

本区域禁止吸烟，禁止携带宠物。访客必须登记，未登记的访客无法进入。夜间十点以后，只有值班人员可以进入机房。设备的工作电压为220V，功率不得高于100mW。`,
];

const german = `## Kündigung

Der Mieter darf die Wohnung mit einer Frist von drei Monaten kündigen. Der Vermieter darf mitnichten ohne Grund kündigen. Die Kaution beträgt nicht mehr als drei Monatsmieten. Haustiere sind verboten, es sei denn, beide Seiten stimmen zu. Die Miete von 1.250,50 Euro ist bis zum fünften Tag zu zahlen. Das Gericht lehnte es ab, die Klage zu verwerfen. Alkohol darf nur in Maßen getrunken werden.`;
const french = `## Bail

Le locataire n'a pas le droit de sous-louer l'appartement. Le bailleur peut résilier le contrat au bout de vingt et un mois. Les animaux sont interdits, sauf accord des deux parties. Le loyer est de 1 250,50 euros par mois. Aucun remboursement n'est dû après trente jours. Le tribunal a refusé de rejeter la demande.`;
const spanish = `## Contrato

El arrendatario no puede ceder el piso a terceros. El propietario se negó a pagar la reparación. La fianza es de ciento cinco euros. Quedan prohibidas las obras, salvo acuerdo de ambas partes. El plazo es de treinta y cinco días. Nunca se devuelve más de la mitad.`;
const greek = `## Μίσθωση

Ο μισθωτής δεν μπορεί να υπεκμισθώσει το διαμέρισμα. Η εγγύηση είναι εκατόν πέντε ευρώ. Απαγορεύονται τα ζώα, εκτός αν συμφωνούν και οι δύο πλευρές. Το δικαστήριο αρνήθηκε να απορρίψει την αγωγή. Ο ιδιοκτήτης ποτέ δεν πληρώνει μετά από 30 ημέρες.`;
const japanese = `## 利用規約

会員は契約後十七日以内に解約できます。未成年者は本サービスを利用できません。料金は百分の十五を超えない範囲で変更されます。返金は行わない場合があります。会社は支払いを拒否しました。保存温度は零下五度です。`;
const turkish = `## Kira

Kiracı daireyi üçüncü kişilere kiraya veremez. Depozito yüz beş avrodur. Süre on yedi gündür. Evde hayvan beslemek yasaktır, ancak iki taraf anlaşırsa izin verilir. Mahkeme davayı reddetmeyi kabul etmedi. Ödeme asla otuz günden sonra yapılmaz.`;

export const quotableTexts: readonly QuotableText[] = [
  ...english.map((text) => ({ language: "en", text }) as const),
  ...chinese.map((text) => ({ language: "zh", text }) as const),
  { language: "de", text: german },
  { language: "fr", text: french },
  { language: "es", text: spanish },
  { language: "el", text: greek },
  { language: "ja", text: japanese },
  { language: "tr", text: turkish },
];

// Makes ../prices.jsonl from the npm package @pydantic/genai-prices:
//
//     node price/gen/gen.mjs [VERSION]
//
// It needs node and npm. Only data is taken over, and of it what usage can be
// priced with: how providers and models are recognised, how much they can read,
// and what tokens and requests cost from when on. data.go describes the file.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const name = "@pydantic/genai-prices";
const version = process.argv[2] ?? "0.1.8";
const out = join(dirname(fileURLToPath(import.meta.url)), "..", "prices.jsonl");

// The names of prices there and here. Prices of sound, pictures and searches
// have no counter in our usage.
const keys = {
  input_mtok: "input",
  output_mtok: "output",
  output_reasoning_mtok: "reasoning",
  cache_read_mtok: "cache_read",
  cache_write_mtok: "cache_write",
  cache_write_1h_mtok: "cache_hour",
  requests_kcount: "requests",
};

// match rewrites a leading negative lookahead, which Go's regular expressions
// do not have, as a condition of its own.
function match(m) {
  if (m === undefined) return undefined;
  if (m.or) return { or: m.or.map(match) };
  if (m.and) return { and: m.and.map(match) };
  if (m.regex?.startsWith("^(?!")) {
    let depth = 0;
    for (let i = 1; i < m.regex.length; i++) {
      if (m.regex[i] === "\\") i++;
      else if (m.regex[i] === "(") depth++;
      else if (m.regex[i] === ")" && --depth === 0) {
        const not = { not: { regex: "^(?:" + m.regex.slice(4, i) + ")" } };
        const rest = m.regex.slice(i + 1);
        return rest === "" ? not : { and: [not, match({ regex: "^" + rest })] };
      }
    }
  }
  if (m.regex?.includes("(?!") || m.regex?.includes("(?<")) throw new Error("regex " + m.regex);
  return m;
}

function prices({ constraint, prices }) {
  const p = {};
  if (constraint?.start_date) p.from = constraint.start_date;
  if (constraint?.start_time) p.hours = [constraint.start_time, constraint.end_time];
  for (const [from, to] of Object.entries(keys)) {
    const v = prices[from];
    if (v === undefined) continue;
    if (typeof v === "number") {
      p[to] = v;
      continue;
    }
    if (v.tiers.length !== 1 || (p.above ?? v.tiers[0].start) !== v.tiers[0].start) throw new Error("tiers " + JSON.stringify(v));
    p[to] = v.base;
    p.above = v.tiers[0].start;
    (p.long ??= {})[to] = v.tiers[0].price;
  }
  return p;
}

function model(m) {
  const all = (Array.isArray(m.prices) ? m.prices : [{ prices: m.prices }]).map(prices);
  if (!all.some((p) => p.input !== undefined || p.output !== undefined)) return undefined;
  return { id: m.id, match: match(m.match), window: m.context_window || undefined, prices: all };
}

const dir = mkdtempSync(join(tmpdir(), "prices-"));
try {
  const tgz = execFileSync("npm", ["pack", "--silent", `${name}@${version}`], { cwd: dir, encoding: "utf8" }).trim();
  execFileSync("tar", ["xzf", tgz], { cwd: dir });
  const sum = createHash("sha256").update(readFileSync(join(dir, tgz))).digest("hex");
  const date = JSON.parse(execFileSync("npm", ["view", "--silent", name, "time", "--json"], { encoding: "utf8" }))[version];
  const pkg = createRequire(join(dir, "x.cjs"))("./package/dist/index.cjs");
  const providers = await pkg.waitForUpdate();
  const license = readFileSync(join(dir, "package", "LICENSE"), "utf8").trim();
  const lines = [{ source: `${name} ${version}`, date: date.slice(0, 10), sha256: sum, license }];
  for (const p of providers) {
    lines.push({ provider: p.id, match: match(p.provider_match), models: match(p.model_match), fallback: p.fallback_model_providers });
    lines.push(...p.models.map(model).filter((m) => m));
  }
  writeFileSync(out, lines.map((l) => JSON.stringify(l) + "\n").join(""));
} finally {
  rmSync(dir, { recursive: true });
}

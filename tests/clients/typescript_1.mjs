// The first TypeScript client: node typescript_1.mjs COMMAND…
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "typescript-1", version: "1" });
client.onerror = (error) => { console.error("onerror", error.message); process.exitCode = 1; };
await client.connect(new StdioClientTransport({ command, args, env: process.env, cwd: process.cwd() }));
const { tools } = await client.listTools();
console.log(`${tools.length} tools`);
await client.ping();
const begun = await client.callTool({ name: "begin", arguments: { new_task: "From TypeScript" } });
console.log(begun.isError ? begun.content : "begun");
await client.callTool({ name: "ledger_verify", arguments: {} }, undefined, {
  onprogress: ({ progress, total }) => console.log("progress", progress, total),
});
const refused = await client.callTool({ name: "claims", arguments: { claims: ["c99"] } });
console.log(refused.isError ? "refused" : refused);
await client.close();
console.log("done");

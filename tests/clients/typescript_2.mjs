// The second TypeScript client: node typescript_2.mjs legacy|auto COMMAND…
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client(
  { name: "typescript-2", version: "1" },
  { versionNegotiation: { mode } },
);
client.onerror = (error) => { console.error("onerror", error.message); process.exitCode = 1; };
await client.connect(new StdioClientTransport({ command, args, env: process.env, cwd: process.cwd() }));
const { tools } = await client.listTools();
console.log(`${tools.length} tools`);
const begun = await client.callTool({ name: "begin", arguments: { new_task: `From ${mode}` } });
console.log(begun.isError ? begun.content : "begun");
const refused = await client.callTool({ name: "claims", arguments: { claims: ["c99"] } });
console.log(refused.isError ? "refused" : refused);
await client.close();
console.log("done");

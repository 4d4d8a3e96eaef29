// Packs the client for npm: node client/pack.mjs VERSION FOLDER writes FOLDER/frontdesk-client-VERSION.tgz. The package has the
// sources as they are, and their declarations.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [version, folder] = process.argv.slice(2);
const forge = process.env.GITHUB_REPOSITORY; // npm lets a workflow publish only what names its repository
const repository = forge && { repository: { type: "git", url: `git+https://github.com/${forge}.git` } };
const root = resolve(import.meta.dirname, "..");
const built = mkdtempSync(join(tmpdir(), "frontdesk-client-"));
const options = { cwd: built, stdio: ["ignore", "inherit", "inherit"] };
try {
  cpSync(join(root, "client"), built, { recursive: true, filter: (path) => !/\/(node_modules|pack\.mjs|test)$/.test(path) });
  cpSync(join(root, "LICENSE"), join(built, "LICENSE"));
  const tsc = join(root, "e2e", "web", "node_modules", "typescript", "bin", "tsc");
  execFileSync("node", [tsc, "-p", ".", "--noEmit", "false", "--declaration", "--emitDeclarationOnly"], options);
  rmSync(join(built, "tsconfig.json"));
  const about = JSON.parse(readFileSync(join(built, "package.json"), "utf8"));
  writeFileSync(join(built, "package.json"), JSON.stringify({ ...about, version, ...repository }, null, 2));
  mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(folder)], options);
} finally {
  rmSync(built, { recursive: true });
}

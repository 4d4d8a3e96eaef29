// Writes the contract's types for TypeScript, each schema by its name. An open list is a union of its known values with any other
// string. The known values alone are a union, too, so that the compiler can tell whether a switch over them is complete:
//
//     export type KnownStep = "person" | "items";
//     export type Step = KnownStep | (string & {});
//
// In responses, Later takes the place of `string & {}`, which openapi-fetch would take for an object. It also lets the compiler
// find a comparison with a misspelled value.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const [contract, output] = process.argv.slice(2);
const reference = (name) => ts.factory.createTypeReferenceNode(name);
const lists = new Map();
const nodes = await openapiTS(await readFile(contract, "utf8"), {
  defaultNonNullable: false,
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
  transform(schema, { path }) {
    if (typeof schema.example === "object") delete schema.example; // the contract's page shows whole objects
    const known = schema["x-extensible-enum"];
    if (!known) return undefined;
    const name = path?.match(/^#\/components\/schemas\/(\w+)$/)?.[1];
    if (!name) throw new Error(`the open list at ${path} needs a name`);
    lists.set(name, known.map((value) => JSON.stringify(value)).join(" | "));
    return ts.factory.createUnionTypeNode([reference(`Known${name}`), reference("Later")]);
  },
});
const others = nodes.filter(({ name }) => !lists.has(name?.text));
const types = [...lists].map(([name, known]) => `export type Known${name} = ${known};\nexport type ${name} = Known${name} | (string & {});\n`);
await writeFile(output, `// Generated from openapi.yaml: make generate.

/**
 * A value that a later version of the contract has added to a list: any string. A member of a response, such as Registration["step"],
 * is a known value or a later one. The compiler finds what a switch over it leaves out, if it ends so:
 *
 *     default: step satisfies Later;
 */
export declare enum Later { value = "" }
${types.join("")}
${astToString(others)}`);

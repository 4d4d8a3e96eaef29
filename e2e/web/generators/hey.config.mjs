export default { input: "./openapi.yaml", output: "./out/hey", plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk", "zod"] };

const of = (client) => ({ input: { target: "./openapi.yaml" }, output: { target: `./out/orval-${client}.ts`, client } });
export default { fetch: of("fetch"), axios: of("axios"), query: of("react-query"), zod: of("zod") };

// Shows the contract, to browse and to call from, by the library that the page has loaded.
import { prepare } from "/docs/try.js";

const place = document.querySelector("#swagger-ui");

/** Swagger UI shows neither problem codes nor code samples: they are put below the operation's description. */
const extensions = () => ({ statePlugins: { spec: { wrapActions: { updateJsonSpec: (update) => (document) => {
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    const codes = (operation["x-problem-codes"] ?? []).map((code) => `[${code}](/docs/problems#${code})`);
    if (codes.length) operation.description += `\n\nProblems: ${codes.join(", ")}`;
    for (const { source } of operation["x-codeSamples"] ?? []) operation.description += `\n\n\`\`\`sh\n${source}\`\`\``;
  }
  return update(document);
} } } } });

/** The page, once it is there; it loads the contract by the interceptor, too. */
let ui;
ui = SwaggerUIBundle({
  domNode: place,
  url: new URL("/openapi.yaml", location.href).href,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [extensions],
  layout: "BaseLayout",
  filter: true, // by tag
  deepLinking: true,
  showCommonExtensions: true,
  validatorUrl: null, // it would be another origin's
  tryItOutEnabled: true, // one click less
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  requestInterceptor: (request) => prepare(request, ui, place.dataset.mock === "true"),
});

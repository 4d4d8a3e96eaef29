// Shows the contract, to browse and to call from, by the library that the page has loaded.
import { prepare } from "/docs/try.js";

const place = document.querySelector("#swagger-ui");

/** The page, once it is there; it loads the contract by the interceptor, too. */
let ui;
ui = SwaggerUIBundle({
  domNode: place,
  url: new URL("/openapi.yaml", location.href).href,
  presets: [SwaggerUIBundle.presets.apis],
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

// The page at /docs: Swagger UI with the gateway's OpenAPI document. The gateway serves all files, so the page works without internet access. The
// CSP forbids other origins, inline scripts and frames.

export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tintype API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. Its source is <a href="api/v1/openapi.json">api/v1/openapi.json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

/** `persistAuthorization: false` keeps API keys out of the browser's storage. */
export const START = `if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')
SwaggerUIBundle({
  url: 'api/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  tryItOutEnabled: false,
  validatorUrl: null,
})
`

export const STYLE = `body { margin: 0; background: #fff; }
.dark-mode body { background: #1c2022; }
noscript { display: block; margin: 2rem; font-family: sans-serif; }
.swagger-ui .info { margin: 2rem 0 1rem; }
`

/** The CSP can forbid inline styles, because Swagger UI sets its styles through the CSSOM. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const

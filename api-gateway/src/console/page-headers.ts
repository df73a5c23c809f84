/**
 * Security headers of the console's page. Only its own scripts run, nothing can be framed, and pictures and videos may come from the public origin
 * of the object store. Trusted Types block every script that a text of a page could become.
 */
export function toPageHeaders(storeOrigin: string | undefined): Readonly<Record<string, string>> {
  const files = storeOrigin === undefined ? "'self'" : `'self' ${storeOrigin}`
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${files} blob: data:`,
    `media-src ${files}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  }
}

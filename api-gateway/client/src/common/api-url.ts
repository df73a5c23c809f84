import { TintypeError } from './errors.ts'

/** The URL of the API at a base URL: `https://tintype.example.com` → `https://tintype.example.com/api/v1`. Keeps a path that ends in `/v1`. */
export function toApiUrl(baseUrl: string, prefix = '/api/v1'): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TintypeError(
      'baseUrl is not an http or https URL. Set it to the URL of your Tintype service, such as https://tintype.example.com.',
      {
        code: 'INVALID_CONFIGURATION',
      },
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path.endsWith('/v1') ? path : path + prefix}`
}

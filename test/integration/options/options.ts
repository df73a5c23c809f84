import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { Test } from 'tap'
import type { Browsers } from '../../../capture-runner/src/browser/browsers.ts'
import type { Captured } from '../../../capture-runner/src/capture/run.ts'
import type { HttpCache } from '../../../capture-runner/src/http-cache/http-cache.ts'
import type { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { type PageServer, type Pages, servePages } from '../capture-runner/stage/page-server.ts'
import { decode, type Pixels } from '../capture-runner/stage/pixels.ts'
import { type How, openStudio, type StudioOptions } from '../capture-runner/stage/studio.ts'

// Shared by the tests of options: two browsers and one site per file, one context per capture. A test is named
// `option <snake_name>: …`, by which docs/options.md and `every option has a test` find it. A test with another name lists its options in a
// comment above it, `// proves: <snake_name>, <snake_name>`.

/** A capture with its decoded image; a PDF has none. */
export interface Shot extends Captured {
  pixels: Pixels
  timings: Record<string, number>
}

/** A request to the site. */
export interface SeenRequest {
  method: string
  /** Path and query. */
  path: string
  headers: IncomingHttpHeaders
}

/** Two browsers and a site. */
export interface OptionStage {
  site: PageServer
  browsers: Browsers
  /** The HTTP cache of batches. */
  httpCache: HttpCache
  /** All requests so far, oldest first. */
  seen: SeenRequest[]
  /** The last request for a path. @throws if there was none */
  lastSeen: (path: string) => SeenRequest
  shoot: (path: string, options?: CaptureOptions, how?: How) => Promise<Shot>
  /** The same for a file that is no picture. */
  take: (path: string, options?: CaptureOptions, how?: How) => Promise<Captured>
  /** The result of a page of {@link telling}. */
  ask: (path: string, options?: CaptureOptions, how?: How) => Promise<unknown>
  /** The error of a capture that must fail. */
  fail: (path: string, options?: CaptureOptions, how?: How) => Promise<CaptureError>
  /** The same for any URL. */
  shootAt: (url: string, options?: CaptureOptions, how?: How) => Promise<Shot>
}

/** A page of one color, with content. */
export const page = (style: string, body = '', head = ''): string =>
  `<!doctype html><title>A page</title>${head}<body style="margin:0;${style}">${body}</body>`

/** A page with this content. */
export const markup = (texts: TemplateStringsArray, ...values: unknown[]): string => page('', String.raw({ raw: texts }, ...values))

/** Green rows of 40 px that fade in one after the other, beside a clock. */
export const FADING_ROWS = page(
  '',
  `<style>@keyframes appear { from { opacity: 0; transform: translateY(30px) } to { opacity: 1; transform: none } }
  div { height: 40px; background: #0f0; animation: appear .6s both }</style>
  ${[0, 1, 2, 3, 4].map((row) => `<div style="animation-delay: ${row * 150}ms"></div>`).join('')}<p id="clock"></p><script>
  const tick = () => { clock.textContent = new Date().toISOString() }; tick(); setInterval(tick, 100)</script>`,
)

/** The path of a page that is named by a phrase. */
export const pathOf = (what: string): string => `/${what.replaceAll(/\W+/g, '-')}`

/** Pages at the paths of their names. */
export const atPaths = <T>(pages: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(pages).map(([what, served]) => [pathOf(what), served]))

/** A page whose title is the JSON of an expression's awaited value after the load event. */
export const telling = (expression: string, body = ''): string =>
  `<!doctype html><body><p>A page.</p>${body}<script type="module">document.title = JSON.stringify(await (${expression}))</script></body>`

/** A page with the strictest Content-Security-Policy. */
export const strict =
  (html: string): RequestListener =>
  (_, response) => {
    const policy = "default-src 'none'; style-src 'none'; script-src 'none'"
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
    response.end(html)
  }

/** Starts browsers and site, which end with the test file. */
export async function openStage(t: Test, pages: Pages, options?: StudioOptions): Promise<OptionStage> {
  const seen: SeenRequest[] = []
  const [studio, site] = await Promise.all([openStudio(options), servePages(notingAll(pages, seen))])
  t.teardown(async () => {
    await studio.close()
    await site.close()
  })
  const shootAt: OptionStage['shootAt'] = async (url, chosen, how) => {
    const captured = await studio.shoot(url, chosen, how)
    return { ...captured, pixels: await decode(captured.picture) }
  }
  const shoot: OptionStage['shoot'] = (path, ...rest) => shootAt(site.url(path), ...rest)
  return {
    site,
    browsers: studio.browsers,
    httpCache: studio.httpCache,
    seen,
    shoot,
    shootAt,
    take: (path, ...rest) => studio.shoot(site.url(path), ...rest),
    lastSeen: (path) => {
      const found = seen.findLast((request) => request.path === path)
      if (!found) throw new Error(`nobody asked for ${path}; asked for were ${seen.map((request) => request.path).join(', ')}`)
      return found
    },
    ask: async (path, ...rest) => JSON.parse((await studio.shoot(site.url(path), ...rest)).findings.pageTitle ?? 'null'),
    fail: (path, ...rest) => studio.shootInVain(site.url(path), ...rest),
  }
}

/** Serves the pages and records every request. */
const notingAll = (pages: Pages, seen: SeenRequest[]): Pages =>
  Object.fromEntries(
    Object.entries(pages).map(([path, answer]): [string, RequestListener] => [
      path,
      (request, response) => {
        seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers })
        if (typeof answer === 'function') return answer(request, response)
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        response.end(answer)
      },
    ]),
  )

import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { Test } from 'tap'
import type { Browsers } from '../../../capture-runner/src/browser/browsers.ts'
import type { HttpCache } from '../../../capture-runner/src/http-cache/http-cache.ts'
import type { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { type PageServer, type Pages, servePages } from '../capture-runner/stage/page-server.ts'
import { decode, type Pixels } from '../capture-runner/stage/pixels.ts'
import { type How, openStudio, type StudioOptions, type Taken } from '../capture-runner/stage/studio.ts'

// Shared by the tests of captures: two browsers and one site per file, one context per capture. A test is named
// `option <snake_name>: …`, by which docs/options.md and `every option has a test` find it. A test with another name lists its options in a
// comment above it, `// proves: <snake_name>, <snake_name>`.

/** A capture with its decoded image; a PDF has none. */
export interface Shot extends Taken {
  pixels: Pixels
}

/** A request to the site. */
export interface SeenRequest {
  method: string
  /** Path and query. */
  path: string
  headers: IncomingHttpHeaders
}

/** Settings of a stage. */
export interface StageOptions extends StudioOptions {
  /** Options of all captures, unless a capture has others, or a device. */
  usual?: CaptureOptions
}

/** A window that is cheaper to draw than the default one. */
export const SMALL_WINDOW: CaptureOptions = { viewportWidth: 1_000, viewportHeight: 700 }

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
  take: (path: string, options?: CaptureOptions, how?: How) => Promise<Taken>
  /** The result of a page of {@link telling}. */
  ask: (path: string, options?: CaptureOptions, how?: How) => Promise<unknown>
  /** The error of a capture that must fail. */
  fail: (path: string, options?: CaptureOptions, how?: How) => Promise<CaptureError>
  /** The same for any URL. */
  shootAt: (url: string, options?: CaptureOptions, how?: How) => Promise<Shot>
  takeAt: (url: string, options?: CaptureOptions, how?: How) => Promise<Taken>
  failAt: (url: string, options?: CaptureOptions, how?: How) => Promise<CaptureError>
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

/** Starts browsers and site, which end with the test file. All names but `*.invalid` are those of the site, unless `guard` has other name servers. */
export async function openStage(t: Test, pages: Pages, { usual = {}, guard, ...more }: StageOptions = {}): Promise<OptionStage> {
  const seen: SeenRequest[] = []
  const names = await startDnsServer((name) => (name.endsWith('.invalid') ? undefined : { addresses: ['127.0.0.1'] }))
  const [studio, site] = await Promise.all([
    openStudio({ ...more, guard: { dnsServers: [names.address], ...guard } }),
    servePages(notingAll(pages, seen)),
  ])
  t.teardown(async () => {
    await studio.close()
    await site.close()
    names.close()
  })
  const withUsual = (chosen: CaptureOptions = {}): CaptureOptions => (chosen.device ? chosen : { ...usual, ...chosen })
  const takeAt: OptionStage['takeAt'] = (url, chosen, how) => studio.shoot(url, withUsual(chosen), how)
  const shootAt: OptionStage['shootAt'] = async (...args) => {
    const captured = await takeAt(...args)
    return { ...captured, pixels: await decode(captured.picture) }
  }
  const failAt: OptionStage['failAt'] = (url, chosen, how) => studio.shootInVain(url, withUsual(chosen), how)
  return {
    site,
    browsers: studio.browsers,
    httpCache: studio.httpCache,
    seen,
    shoot: (path, ...rest) => shootAt(site.url(path), ...rest),
    shootAt,
    take: (path, ...rest) => takeAt(site.url(path), ...rest),
    takeAt,
    lastSeen: (path) => {
      const found = seen.findLast((request) => request.path === path)
      if (!found) throw new Error(`nobody asked for ${path}; asked for were ${seen.map((request) => request.path).join(', ')}`)
      return found
    },
    ask: async (path, ...rest) => JSON.parse((await takeAt(site.url(path), ...rest)).findings.pageTitle ?? 'null'),
    fail: (path, ...rest) => failAt(site.url(path), ...rest),
    failAt,
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

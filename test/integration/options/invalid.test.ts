// Invalid selectors, scripts, colors and templates fail the capture before the page is requested, with their own error codes and without
// another attempt.

import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { isRetryable } from '@tintype/crds/schema/errors'
import t, { type Test } from 'tap'
import { isNear } from '../capture-runner/stage/pixels.ts'
import { markup, openStage, page } from './options.ts'

const MASK = [255, 0, 255] as const

const stage = await openStage(t, {
  '/boxes': page('background:#fff', '<div id="one" style="height:100px;background:#f00"></div><div id="two">Two</div>'),
  '/contents': page('', '<div id="none" style="display:contents"><p style="height:100px;margin:0;background:#f00">Secret</p></div>'),
  '/fixed': markup`<p id="low" style="position:absolute;margin:0;top:50vh;height:100px;width:100%;background:#f00"></p><div style="height:2000px">`,
  '/broken.js': (_, response) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end('let = = 1'),
  '/broken.css': (_, response) => void response.writeHead(200, { 'content-type': 'text/css' }).end('<h1>Not found</h1>'),
  '/sheet.css': (_, response) => void response.writeHead(200, { 'content-type': 'text/css' }).end('p { color: red }'),
})

const INVALID = 'div['
const selectorOptions: Record<string, CaptureOptions> = {
  selector: { selector: INVALID },
  wait_for_selector: { waitForSelector: INVALID },
  wait_for_selector_gone: { waitForSelectorGone: INVALID },
  click: { click: INVALID },
  click_all: { clickAll: INVALID },
  hover: { hover: INVALID },
  scroll_into_view: { scrollIntoView: INVALID },
  'hide_selectors[1]': { hideSelectors: ['p', INVALID] },
  'mask_selectors[0]': { maskSelectors: [INVALID] },
  'fail_if_selector_present[0]': { failIfSelectorPresent: [INVALID] },
  full_page_scroll_container: { fullPage: true, fullPageScrollContainer: INVALID },
}

/** Checks that the capture fails before it requests the page. */
const failBefore = async (t: Test, options: CaptureOptions, error: { code: string; message: RegExp }) => {
  const asked = stage.seen.length
  const failure = await stage.fail('/boxes', { ...options, bestAttempt: true, errorOnSelectorNotFound: false })
  t.match(failure, error)
  t.notOk(isRetryable(failure.code), 'there is no other attempt')
  t.notOk(
    stage.seen.slice(asked).some(({ path }) => path === '/boxes'),
    'the page is not requested',
  )
}

for (const [option, options] of Object.entries(selectorOptions)) {
  t.test(`an invalid ${option} fails once, as INVALID_SELECTOR`, async (t) => {
    const name = option.replace(/[[\]]/g, '\\$&')
    await failBefore(t, options, { code: 'INVALID_SELECTOR', message: new RegExp(`^${name} is not a CSS selector: div\\[$`) })
  })
}

t.test('an unclosed hide_selectors entry is rejected, because it would swallow the rules after it', async (t) => {
  for (const selector of ['div[a', '.a /*', '[a="b']) {
    await failBefore(t, { hideSelectors: [selector, '#one'] }, { code: 'INVALID_SELECTOR', message: /^hide_selectors\[0\] does not end/ })
  }
})

t.test('a selector that the browser supports is accepted, and messages shorten a long one', async (t) => {
  const odd = ['p::before', '*|p', ':is(..)', 'div:has(> p)', '#\\31 23', 'a\ud800']
  const { findings } = await stage.shoot('/boxes', {
    hideSelectors: odd,
    selector: 'div[id="one"',
    failIfSelectorPresent: ['p::before'],
    blankPageAction: 'accept',
  })
  t.strictSame(findings.warnings, [])
  const { message } = await stage.fail('/boxes', { selector: `p${'['.repeat(1000)}` })
  t.ok(message.length < 300, message)
})

const scriptOptions: Record<string, CaptureOptions> = {
  scripts: { scripts: 'if (' },
  init_script: { initScript: 'await 1' },
  wait_for_function: { waitForFunction: '1 +' },
}
for (const [option, options] of Object.entries(scriptOptions)) {
  t.test(`a syntax error in ${option} fails once, as INVALID_SCRIPT`, async (t) => {
    const message = new RegExp(`^${option} is not JavaScript: SyntaxError: `)
    await failBefore(t, { ...options, failOnScriptError: false }, { code: 'INVALID_SCRIPT', message })
    t.match(await stage.fail('/boxes', { ...options, javascriptEnabled: false }), { code: 'INVALID_SCRIPT' })
  })
}

t.test('a syntax error in a file of script_urls fails once, as INVALID_SCRIPT', async (t) => {
  const scriptUrls = [stage.site.url('/broken.js')]
  t.match(await stage.fail('/boxes', { scriptUrls }), {
    code: 'INVALID_SCRIPT',
    message: /^script_urls\[0\] is not JavaScript: SyntaxError/,
  })
  const { findings } = await stage.shoot('/boxes', { scriptUrls, failOnScriptError: false })
  t.match(findings.warnings, [/a script failed: SyntaxError/])
})

t.test('valid scripts that look wrong are accepted', async (t) => {
  const scripts = '#!/usr/bin/env node\n"use strict"\nlet a = await 1\nfunction b() { return a }\n<!-- a comment'
  const waitForFunction = '(() => { try { return JSON.parse("") } catch { return true } })()'
  const { findings } = await stage.shoot('/boxes', { scripts, initScript: 'let c = 2 // a comment', waitForFunction })
  t.strictSame(findings.warnings, [])
})

t.test('an init_script that throws adds a warning', async (t) => {
  const initScript = 'nothing.here()'
  for (const options of [{ initScript }, { initScript, pressKey: 'Escape' }] satisfies CaptureOptions[]) {
    t.match((await stage.shoot('/boxes', options)).findings.warnings, [/^init_script threw: ReferenceError/])
  }
})

t.test('the timeout of a wait_for_function that throws names the error', async (t) => {
  const options = { waitForFunction: 'JSON.parse("")', waitForSelectorTimeout: 200 }
  t.match(await stage.fail('/boxes', options), { code: 'TIMEOUT', message: /it threw SyntaxError: Unexpected end of JSON input/ })
})

t.test('mask_selectors without a match add a warning', async (t) => {
  const { findings } = await stage.shoot('/boxes', { maskSelectors: ['#one', '.avatar'] })
  t.strictSame(findings.warnings, ['mask_selectors[1] matched no visible element: .avatar'])
})

t.test('an invalid mask_color is rejected', async (t) => {
  const mask = { maskSelectors: ['#one'] }
  for (const maskColor of ['foo', 'inherit', 'initial', 'rgb(1,2)', 'transparent', 'rgba(0, 0, 0, 0)']) {
    await failBefore(t, { ...mask, maskColor }, { code: 'INVALID_OPTIONS', message: /^mask_color / })
  }
  t.match((await stage.shoot('/boxes', { ...mask, maskColor: 'rgba(0,0,0,0.5)' })).findings.warnings, [/^mask_color is translucent/])
})

t.test('masks cover elements that other options move or hide', async (t) => {
  const mask = { maskSelectors: ['#low'] }
  const tall = await stage.shoot('/fixed', {
    ...mask,
    fullPage: true,
    captureBeyondViewport: false,
    viewportHeight: 400,
    viewportWidth: 400,
  })
  t.notOk(holds(tall.pixels, [255, 0, 0]), 'a taller window moves elements that are placed by its height')
  const isolated = await stage.shoot('/boxes', {
    maskSelectors: ['#one'],
    selector: '#one',
    selectorIsolate: true,
    blankPageAction: 'accept',
  })
  t.strictSame(isolated.pixels.at(5, 5), MASK)
  t.strictSame(
    (await stage.shoot('/contents', { maskSelectors: ['#none'] })).pixels.at(5, 5),
    MASK,
    'a box-less element has its content covered',
  )
})

t.test('styles without a valid rule add a warning', async (t) => {
  const { findings } = await stage.shoot('/boxes', { styles: 'color: red', styleUrls: [stage.site.url('/broken.css')] })
  t.match(findings.warnings, [
    /^styles contains no rule that the browser supports/,
    /^a style sheet contains no rule that the browser supports: .*broken.css/,
  ])
  for (const styles of [
    '/* nothing yet */',
    '',
    `@import url(${stage.site.url('/sheet.css')});`,
    'p { color: red }',
    '@media print { p { color: red } }',
  ]) {
    t.strictSame((await stage.shoot('/boxes', { styles })).findings.warnings, [])
  }
})

t.test('media_features that the browser does not support add a warning', async (t) => {
  const { findings } = await stage.shoot('/boxes', { mediaFeatures: { 'color-gamut': 'p3', 'no-such': 'thing' } })
  t.match(findings.warnings, [/^media_features.no-such had no effect/])
})

/** True if any pixel has that color. */
function holds(pixels: Awaited<ReturnType<typeof stage.shoot>>['pixels'], color: readonly number[]): boolean {
  for (let y = 0; y < pixels.height; y += 10) if (isNear(pixels.at(5, y), color as never, 8)) return true
  return false
}

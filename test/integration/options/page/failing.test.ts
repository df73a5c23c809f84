// Conditions under which a capture fails.

import t from 'tap'
import { openStage, page, strict } from '../options.ts'

const stage = await openStage(t, {
  '/fine': page('', '<h1>Welcome   back</h1><p class="note">All is well.</p>'),
  '/strict': strict('<!doctype html><title>Strict</title><h1>Welcome back</h1>'),
  '/missing': (_, response) => {
    response.writeHead(404, { 'content-type': 'text/html' })
    response.end('<h1>Not here</h1>')
  },
  '/moved': (_, response) => {
    response.writeHead(302, { location: '/fine' })
    response.end()
  },
  '/needs': page('', '<h1>Welcome</h1><img src="/broken.png"><script src="/fine.js"></script>'),
  '/broken.png': (_, response) => {
    response.writeHead(503)
    response.end()
  },
  '/throws': page('', '<h1>Welcome</h1><script>setTimeout(() => { throw new Error("oh no") })</script>'),
  '/challenge': (_, response) => {
    response.writeHead(403, { 'content-type': 'text/html', 'cf-mitigated': 'challenge' })
    response.end('<title>Just a moment...</title><h1>example.com</h1><form id="challenge-form"></form>')
  },
  '/captcha': page('', '<p>Please verify</p><div id="px-captcha"></div>'),
})

t.test('option fail_on_status: fails for single statuses and ranges', async (t) => {
  t.match(await stage.fail('/missing', { failOnStatus: ['404'] }), { code: 'HTTP_ERROR', message: /404/ })
  t.match(await stage.fail('/missing', { failOnStatus: ['500-599', '400-403', '404-410'] }), { code: 'HTTP_ERROR' })
  t.equal((await stage.shoot('/missing', { failOnStatus: ['500-511'] })).findings.httpStatus, 404)
})

t.test('option fail_if_content_contains: fails for visible words', async (t) => {
  t.match(await stage.fail('/fine', { failIfContentContains: ['nope', 'welcome BACK'] }), { code: 'CONTENT_RULE', message: /welcome BACK/ })
  t.match(await stage.fail('/strict', { failIfContentContains: ['Welcome'] }), { code: 'CONTENT_RULE' })
  await stage.shoot('/fine', { failIfContentContains: ['h1', 'Goodbye'] })
})

t.test('option fail_if_content_missing: fails without the words', async (t) => {
  t.match(await stage.fail('/fine', { failIfContentMissing: ['Welcome', 'Basket'] }), { code: 'CONTENT_RULE', message: /Basket/ })
  await stage.shoot('/fine', { failIfContentMissing: ['all is well'] })
})

t.test('option fail_if_selector_present: fails for matching elements', async (t) => {
  t.match(await stage.fail('/fine', { failIfSelectorPresent: ['.error', '.note'] }), { code: 'CONTENT_RULE', message: /\.note/ })
  await stage.shoot('/fine', { failIfSelectorPresent: ['.error'] })
})

t.test('option fail_if_request_failed: fails if a matching request fails', async (t) => {
  t.match(await stage.fail('/needs', { failIfRequestFailed: ['*/broken.png'] }), { code: 'CONTENT_RULE', message: /broken\.png/ })
  await stage.shoot('/needs', { failIfRequestFailed: ['*/other.png'] })
})

t.test('option fail_on_redirect: fails if the page redirects', async (t) => {
  t.match(await stage.fail('/moved', { failOnRedirect: 'always' }), { code: 'CONTENT_RULE' })
  await stage.shoot('/moved', { failOnRedirect: 'cross_site' })
  await stage.shoot('/fine', { failOnRedirect: 'always' })
  const elsewhere = stage.site.url('/moved').replace('127.0.0.1', '127.0.0.2')
  t.ok(elsewhere)
})

t.test('option fail_on_page_error: fails for pages whose scripts throw', async (t) => {
  t.match(await stage.fail('/throws', { failOnPageError: true, delay: 50 }), { code: 'SCRIPT_ERROR', message: /oh no/ })
  await stage.shoot('/fine', { failOnPageError: true })
})

t.test('option fail_on_bot_challenge: fails for challenges', async (t) => {
  t.match(await stage.fail('/challenge', { failOnBotChallenge: true }), { code: 'BOT_CHALLENGE' })
  t.match(await stage.fail('/captcha', { failOnBotChallenge: true }), { code: 'BOT_CHALLENGE' })
  await stage.shoot('/fine', { failOnBotChallenge: true })
  await stage.shoot('/challenge')
})

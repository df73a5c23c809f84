import t from 'tap'
import { findUnfit, type PageFacts } from '../../../../capture-runner/src/comparison/decide.ts'

const URL = 'https://shop.example/offer'
const shown: PageFacts = { httpStatus: 200, finalUrl: URL, forms: [], isBrokenOff: false }
/** The page of an earlier picture. */
const earlier = { url: URL, forms: [] }
/** Without an earlier picture, only the URL is known. */
const first = { url: URL, forms: undefined }

t.test('an error page was compared, and became the baseline', async (t) => {
  for (const httpStatus of [400, 404, 429, 500, 503]) {
    t.equal(findUnfit({ ...shown, httpStatus }, earlier, []), 'http_error', String(httpStatus))
    t.equal(findUnfit({ ...shown, httpStatus }, first, []), 'http_error', String(httpStatus))
  }
  t.equal(findUnfit({ ...shown, httpStatus: 404 }, earlier, [{ from: 404, to: 404 }]), undefined, 'accepted')
  t.equal(findUnfit({ ...shown, httpStatus: 503 }, earlier, [{ from: 404, to: 404 }]), 'http_error', 'another status')
  t.equal(findUnfit({ ...shown, httpStatus: 399 }, earlier, []), undefined)
})

t.test('a login form was compared with the page', async (t) => {
  const login: PageFacts = { ...shown, forms: ['password'] }
  t.equal(findUnfit(login, earlier, []), 'login')
  t.equal(findUnfit(login, { url: URL, forms: ['password'] }, []), undefined, 'the page has one')
  t.equal(findUnfit(login, first, []), undefined, 'the page itself may have one')
  t.equal(findUnfit({ ...login, finalUrl: 'https://shop.example/enter' }, first, []), 'login', 'after a redirect')
  for (const finalUrl of [
    'https://shop.example/login?next=/offer',
    'https://sso.example.com/realms/a',
    'https://shop.example/users/sign_in',
    'https://shop.example/accounts/signin/v2',
    'https://shop.example/oauth2/authorize?client_id=1',
  ]) {
    t.equal(findUnfit({ ...shown, finalUrl }, earlier, []), 'login', finalUrl)
  }
  for (const finalUrl of [`${URL}/?session=5`, 'https://shop.example/offers/5', 'https://shop.example/authors', 'about:srcdoc']) {
    t.equal(findUnfit({ ...shown, finalUrl }, earlier, []), undefined, finalUrl)
  }
  const ofLogin = { url: 'https://shop.example/login', forms: ['password' as const] }
  t.equal(findUnfit({ ...login, finalUrl: 'https://shop.example/login/' }, ofLogin, []), undefined, 'a schedule that watches a login form')
  t.equal(findUnfit({ finalUrl: URL }, earlier, []), undefined)
})

t.test('a captcha, a document that broke off and an empty page are not fit', async (t) => {
  t.equal(findUnfit({ ...shown, forms: ['captcha'] }, earlier, []), 'bot_challenge')
  t.equal(findUnfit({ ...shown, forms: ['captcha'] }, { url: URL, forms: ['captcha'] }, []), undefined, 'the page has one')
  t.equal(findUnfit({ ...shown, unfit: 'bot_challenge' }, first, []), 'bot_challenge')
  t.equal(findUnfit({ ...shown, isBrokenOff: true }, first, []), 'broken_off')
  t.equal(findUnfit({ ...shown, unfit: 'blank' }, first, []), 'blank')
  t.equal(findUnfit(shown, earlier, []), undefined)
})

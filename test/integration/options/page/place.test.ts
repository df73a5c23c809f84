import t from 'tap'
import { openStage, telling } from '../options.ts'

const position = `new Promise((done) => navigator.geolocation.getCurrentPosition(
  ({ coords: { latitude, longitude, accuracy } }) => done([latitude, longitude, accuracy]), ({ code }) => done(code)))`
const facts = `({
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  hour: new Date('2026-07-01T12:00:00Z').getHours(),
  language: navigator.language,
  number: (1234.5).toLocaleString(),
  now: [new Date().toISOString(), Date.now()],
})`

const stage = await openStage(t, {
  '/position': telling(position),
  '/facts': telling(facts),
  '/framed': telling(`new Promise((done) => addEventListener('message', ({ data }) => done(data)))`, '<iframe src="/frame"></iframe>'),
  '/debounced': telling(`new Promise((done) => {
    const called = Date.now()
    const check = () => (Date.now() - called < 300 ? setTimeout(check, 10) : done('done'))
    check()
  })`),
  '/frame': `<script>parent.postMessage(${facts}, '*')</script>`,
})

t.test('option geolocation_latitude, geolocation_longitude: sets the page’s position', async (t) => {
  t.strictSame(await stage.ask('/position', { geolocationLatitude: 48.2082, geolocationLongitude: 16.3738 }), [48.2082, 16.3738, 0])
  t.equal(await stage.ask('/position'), 1, 'without the options, the permission is denied')
})

t.test('option geolocation_accuracy: sets the accuracy of the position', async (t) => {
  const options = { geolocationLatitude: -33.9, geolocationLongitude: 151.2, geolocationAccuracy: 25 }
  t.strictSame(await stage.ask('/position', options), [-33.9, 151.2, 25])
})

t.test('option timezone: sets the page’s time zone, by default UTC', async (t) => {
  t.match(await stage.ask('/facts'), { zone: 'UTC', hour: 12 })
  t.match(await stage.ask('/facts', { timezone: 'Asia/Tokyo' }), { zone: 'Asia/Tokyo', hour: 21 })
  t.match(await stage.ask('/framed', { timezone: 'America/New_York' }), { zone: 'America/New_York', hour: 8 }, 'in frames too')
})

t.test('option locale: sets the page’s language and formats, and the request’s header', async (t) => {
  t.match(await stage.ask('/facts'), { language: 'en-US', number: '1,234.5' })
  t.match(await stage.ask('/facts', { locale: 'de-AT' }), { language: 'de-AT', number: '1\u00a0234,5' })
  t.match(stage.lastSeen('/facts').headers['accept-language'], /^de-AT/)
})

t.test('option fixed_time: starts the page’s clock at this time, also in frames', async (t) => {
  const now = [/^1999-12-31T23:5/, (time: unknown) => Math.abs(Number(time) - Date.UTC(1999, 11, 31, 23, 50)) < 300_000]
  t.match(await stage.ask('/facts', { fixedTime: '1999-12-31T23:50:00Z' }), { now })
  t.match(await stage.ask('/framed', { fixedTime: '2000-01-01T00:50:00+01:00' }), { now })
})

t.test('option fixed_time: work that a page delays by comparing times happens', async (t) => {
  t.equal(await stage.ask('/debounced', { fixedTime: '2026-01-15T12:00:00Z' }), 'done')
})

t.test('an invalid time zone, locale or time is rejected', async (t) => {
  for (const options of [
    { timezone: 'Mars/Olympus' },
    { locale: 'de-a' },
    { fixedTime: '1989-01-01' },
    { fixedTime: '2026-02-31T99:00Z' },
  ]) {
    t.equal((await stage.fail('/facts', options)).code, 'INVALID_OPTIONS', JSON.stringify(options))
  }
})

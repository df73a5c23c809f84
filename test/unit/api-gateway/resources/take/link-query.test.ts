import t from 'tap'
import { MAX_QUERY_LENGTH, parseLinkQuery } from '../../../../../api-gateway/src/resources/take/link-query.ts'

const problemsOf = (query: string): string[] => {
  try {
    parseLinkQuery(query)
    return []
  } catch (error) {
    return (error as { details: { message: string }[] }).details.map(({ message }) => message)
  }
}

t.test('options have the types of their schemas', async (t) => {
  const { options, url, key } = parseLinkQuery(
    'key=key_1&url=https%3A%2F%2Fexample.com%2F%3Fa%3Db&viewport_width=1200&page_zoom=1.5&full_page=true&format=webp' +
      '&hide_selectors=.a&hide_selectors=.b&wait_until=load&media_features=%7B%22prefers-reduced-data%22%3A%22reduce%22%7D',
  )
  t.equal(key, 'key_1')
  t.equal(url, 'https://example.com/?a=b')
  t.strictSame(options, {
    viewport_width: 1200,
    page_zoom: 1.5,
    full_page: true,
    format: 'webp',
    hide_selectors: ['.a', '.b'],
    wait_until: ['load'],
    media_features: { 'prefers-reduced-data': 'reduce' },
  })
})

t.test('a text without the form of its type stays a text, which the schema of the option refuses', async (t) => {
  const { options } = parseLinkQuery('viewport_width=wide&full_page=1&page_zoom=1e3&media_features=%7B')
  t.strictSame(options, { viewport_width: 'wide', full_page: '1', page_zoom: '1e3', media_features: '{' })
})

t.test('texts of options stay texts, also if they look like numbers', async (t) => {
  t.strictSame(parseLinkQuery('click=12&timezone=true').options, { click: '12', timezone: 'true' })
})

t.test('the signature and the names of tracking services are not signed', async (t) => {
  const { signed, signature } = parseLinkQuery('utm_source=mail&url=a&fbclid=1&signature=b&gclid=2&key=c&utm_=3')
  t.strictSame(signed, [
    ['url', 'a'],
    ['key', 'c'],
  ])
  t.equal(signature, 'b')
})

t.test('a query is decoded once', async (t) => {
  t.strictSame(parseLinkQuery('url=https%253A%252F%252Fexample.com').url, 'https%3A%2F%2Fexample.com')
  t.strictSame(parseLinkQuery('click=a+b%2Bc').options, { click: 'a b+c' })
})

t.test('unknown names are refused with the closest known name', async (t) => {
  t.strictSame(problemsOf('viewport_widht=1'), ['viewport_widht is not known here; did you mean viewport_width?'])
  t.strictSame(problemsOf('__proto__=1').length, 1)
  t.strictSame(problemsOf('async=true').length, 1, 'options of the response have no meaning in a link')
})

t.test('a name that is not a list is refused when it is repeated', async (t) => {
  t.strictSame(problemsOf('url=a&url=b&key=c&key=d&full_page=true&full_page=true&hide_selectors=a&hide_selectors=b'), [
    'url must be given once',
    'key must be given once',
    'full_page must be given once',
  ])
})

t.test('a query that is too long is refused', async (t) => {
  t.match(problemsOf(`url=${'a'.repeat(MAX_QUERY_LENGTH)}`), [/at most 8000 characters/])
})

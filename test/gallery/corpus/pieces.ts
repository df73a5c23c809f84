// Text and data that several pages of the corpus share.

const WORDS =
  'The harbor opens at six. Boats that come in before the tide turns pay half of the fee, and the lighthouse keeper writes their names into the book. In the afternoon the market moves to the pier.'

export const paragraph = `<p>${WORDS}</p>`

/** A picture of the corpus. */
export const photo = (number: number, attributes = 'width="300" height="195"'): string =>
  `<img src="/photo/${(number % 6) + 1}.svg?${number}" ${attributes} alt="">`

/** Cards below each other, so that a page is several windows long. */
export const cards = (count: number, attributes: (index: number) => string = () => ''): string =>
  Array.from(
    { length: count },
    (_, index) =>
      `<section class="card" ${attributes(index)}><h2>Section ${index + 1}</h2><div class="row"><div>${paragraph}</div><div>${photo(index)}</div></div></section>`,
  ).join('')

/** Plain text between the parts of a page. */
export const text = (count: number): string => paragraph.repeat(count)

export const hero = (title: string, attributes = ''): string => `<header class="hero"><h1 ${attributes}>${title}</h1></header>`

/** Fixed data for charts. */
const SERIES = [12, 19, 8, 25, 22, 14, 30, 27, 18, 24, 33, 29]
export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** The same data as JavaScript source. */
export const DATA = `const months = ${JSON.stringify(MONTHS)}, series = ${JSON.stringify(SERIES)}, other = series.map((value, index) => 40 - value + index)
const rows = months.map((month, index) => ({ month, value: series[index], other: other[index] }));`

/** A page of a chart: a heading, a box, text, and another box below the first window. */
export const chartBody = (element = 'div'): string =>
  `<main><h1>Landings by month</h1><${element} id="first" class="box" ${element === 'canvas' ? 'height="170"' : ''}></${element}>${text(8)}
<h2>The same, further down</h2><${element} id="second" class="box" ${element === 'canvas' ? 'height="170"' : ''}></${element}>${text(4)}</main>`

// The file of the library for browsers. Its types name the whole package only.
declare module 'turndown/lib/turndown.browser.es.js' {
  import TurndownService from 'turndown'

  export default TurndownService
}

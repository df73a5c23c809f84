// Page functions with libraries. Their bundles are in a module that is loaded when one of them is called.

export { readMarkdown } from './output/markdown.ts'

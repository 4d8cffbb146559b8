export * from './index.cjs';
import * as bough from './index.cjs';
export default bough;

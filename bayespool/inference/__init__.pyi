from .density import Density as Density, Rows as Rows
from .engines import ENGINES as ENGINES, Engine as Engine, register_engine as register_engine
from .fit import Fit as Fit, Source as Source, Start as Start
from .laplace import Laplace as Laplace
from .nuts import NUTS as NUTS, CompiledModel as CompiledModel
